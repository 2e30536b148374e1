import type { RecordDialect } from '../../record-dialect.ts'
import { schemaChanger, phpMapSchema } from '../../response-schema.ts'

/** The feed renders it: see `renderNowPlaying` in `src/model/station/now-playing.ts`. */
export const nowPlayingDialect: RecordDialect = { isRenderedLive: true }

/** How the schemas of its parts differ, which other records have as well. */
export const nowPlayingSchemaChanges = {
  NowPlayingMount: schemaChanger({ nullable: ['bitrate', 'format'] }),
  NowPlayingRemote: schemaChanger({ nullable: ['bitrate', 'format'] }),
  Live: schemaChanger({
    nullable: ['art'],
    fields: { broadcast_start: { type: ['integer', 'null'], format: 'int64', description: 'Unix seconds.' } }
  }),
  // A list in records that have no dialect, such as previews of the queue.
  Song: schemaChanger({
    fields: { custom_fields: { anyOf: [{ type: 'array', items: { type: 'string' } }, phpMapSchema] } }
  })
}
