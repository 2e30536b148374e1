import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { arrayOf, boolean, int64, string } from '../../../core/schemas.ts'
import { asDocumented, changeRecord, computed, constant, shown } from '../../declare-record.ts'
import { links, nothing } from '../../response-schema.ts'
import { artVersion } from '../library/art-version.ts'
import { azuracastScheduleItemSchema, renderScheduleItem } from '../library/schedule-item.ts'

type StreamerRow = {
  readonly id: number
  readonly streamer_username: string
  readonly display_name: string
  readonly comments: string
  readonly schedule_items: readonly ScheduleItem[]
}

/** By the id of the streamer: the version of the picture. */
type Pictures = ReadonlyMap<number, string>

export const streamer = changeRecord<StreamerRow, Pictures>({
  emptyAsNull: ['comments'],
  members: {
    station_id: computed(int64, (_, { stationId }) => stationId),
    display_name: shown(asDocumented, row => row.display_name || row.streamer_username),
    schedule_items: shown(arrayOf(azuracastScheduleItemSchema), row =>
      row.schedule_items.map(renderScheduleItem)
    ),
    reactivate_at: constant(nothing, null),
    art_updated_at: computed(int64, ({ id }, { extras }) => artVersion(extras.get(id) ?? null)),
    has_custom_art: computed(boolean, ({ id }, { extras }) => extras.has(id)),
    art: computed(string, ({ id }, { extras, stationLink }) => {
      const version = extras.get(id)
      return stationLink(`streamer/${id}/art${version === undefined ? '' : `-${version}.jpg`}`)
    }),
    links: computed(links, ({ id }, { stationLink }) => ({
      self: stationLink(`streamer/${id}`),
      broadcasts: stationLink(`streamer/${id}/broadcasts`),
      broadcasts_batch: stationLink(`streamer/${id}/broadcasts/batch`),
      art: stationLink(`streamer/${id}/art`)
    }))
  },
  async read(rows, { sql }) {
    const pictures = await sql<{ id: number; version: string }[]>`
      select id, left(artwork_hash, 8) as version from streamers
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and artwork_hash is not null`
    return new Map(pictures.map(({ id, version }) => [id, version]))
  }
})
