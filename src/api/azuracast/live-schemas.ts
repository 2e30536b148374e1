import type { JsonSchema } from '../../model/fields/field.ts'
import { boolean } from '../core/schemas.ts'
import { changeSchema, phpMapSchema } from './answer-schema.ts'

/**
 * How the parts of now playing and of other records differ in their schemas. The feed renders them in both dialects, or
 * the records that have them.
 */
export const partSchemas: Readonly<Record<string, (documented: JsonSchema) => JsonSchema>> = {
  StationSummary: changeSchema({
    nullable: ['listen_url', 'url', 'hls_url'],
    fields: { requests_enabled: boolean }
  }),
  NowPlayingMount: changeSchema({ nullable: ['bitrate', 'format'] }),
  NowPlayingRemote: changeSchema({ nullable: ['bitrate', 'format'] }),
  Live: changeSchema({
    nullable: ['art'],
    fields: { broadcast_start: { type: ['integer', 'null'], format: 'int64', description: 'Unix seconds.' } }
  }),
  // A list in records that have no dialect, such as previews of the queue.
  Song: changeSchema({
    fields: { custom_fields: { anyOf: [{ type: 'array', items: { type: 'string' } }, phpMapSchema] } }
  }),
  DetailedPlay: changeSchema({
    omitted: ['delta_positive', 'delta_negative', 'listeners_peak', 'unique_listeners']
  }),
  ScheduleEntry: changeSchema({ fields: { type: { type: 'string', enum: ['playlist', 'streamer'] } } })
}
