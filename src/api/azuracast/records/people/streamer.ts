import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { arrayOf, boolean, int64, string } from '../../../core/schemas.ts'
import { changeSchema, links, nothing } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'
import { artVersion } from '../library/art-version.ts'
import { azuracastScheduleItemSchema, renderScheduleItem } from '../library/schedule-item.ts'

type StreamerRow = {
  readonly id: number
  readonly streamer_username: string
  readonly display_name: string
  readonly comments: string
  readonly schedule_items: readonly ScheduleItem[]
}

export const streamer: RecordDialect<StreamerRow> = {
  answer: changeSchema({
    nullable: ['comments'],
    fields: {
      station_id: int64,
      schedule_items: arrayOf(azuracastScheduleItemSchema),
      reactivate_at: nothing,
      art_updated_at: int64,
      has_custom_art: boolean,
      art: string,
      links
    }
  }),
  computed: ['station_id', 'art_updated_at', 'has_custom_art', 'art', 'links'],
  constants: () => ({ reactivate_at: null }),
  async render(rows, { sql, stationId, stationLink }) {
    const pictures = await sql<{ id: number; version: string }[]>`
      select id, left(artwork_hash, 8) as version from streamers
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and artwork_hash is not null`
    const versions = new Map(pictures.map(({ id, version }) => [id, version]))
    return rows.map(row => {
      const version = versions.get(row.id)
      const art = version === undefined ? '' : `-${version}.jpg`
      return {
        ...row,
        station_id: stationId,
        display_name: row.display_name || row.streamer_username,
        comments: orNull(row.comments),
        schedule_items: row.schedule_items.map(renderScheduleItem),
        reactivate_at: null,
        art_updated_at: artVersion(version ?? null),
        has_custom_art: version !== undefined,
        art: stationLink(`streamer/${row.id}/art${art}`),
        links: {
          self: stationLink(`streamer/${row.id}`),
          broadcasts: stationLink(`streamer/${row.id}/broadcasts`),
          broadcasts_batch: stationLink(`streamer/${row.id}/broadcasts/batch`),
          art: stationLink(`streamer/${row.id}/art`)
        }
      }
    })
  }
}
