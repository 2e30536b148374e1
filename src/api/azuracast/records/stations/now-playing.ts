import type { RecordDialect } from '../../record-dialect.ts'
import { changeSchema, phpMapSchema } from '../../response-schema.ts'

/** The feed renders it: see `renderNowPlaying` in `src/model/station/now-playing.ts`. */
export const nowPlaying: RecordDialect = { isRenderedLive: true }

/** How the schemas of its parts differ, which other records have as well. */
export const nowPlayingParts = {
  NowPlayingMount: changeSchema({ nullable: ['bitrate', 'format'] }),
  NowPlayingRemote: changeSchema({ nullable: ['bitrate', 'format'] }),
  Live: changeSchema({
    nullable: ['art'],
    fields: { broadcast_start: { type: ['integer', 'null'], format: 'int64', description: 'Unix seconds.' } }
  }),
  // A list in records that have no dialect, such as previews of the queue.
  Song: changeSchema({
    fields: { custom_fields: { anyOf: [{ type: 'array', items: { type: 'string' } }, phpMapSchema] } }
  })
}
