import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { arrayOf, boolean, int64, string } from '../../../core/schemas.ts'
import {
  keepDocumentedSchema,
  declareChangedRecord,
  computedMember,
  constantMember,
  shownMember
} from '../../declare-record.ts'
import { linksSchema, nullSchema } from '../../response-schema.ts'
import { computeArtVersion } from '../library/art-version.ts'
import { azuracastScheduleItemSchema, renderAzuracastScheduleItem } from '../library/schedule-item.ts'

type StreamerRow = {
  readonly id: number
  readonly streamer_username: string
  readonly display_name: string
  readonly comments: string
  readonly schedule_items: readonly ScheduleItem[]
}

/** By the id of the streamer: the version of the picture. */
type Pictures = ReadonlyMap<number, string>

export const streamerDialect = declareChangedRecord<StreamerRow, Pictures>({
  emptyAsNull: ['comments'],
  members: {
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    display_name: shownMember(keepDocumentedSchema, row => row.display_name || row.streamer_username),
    schedule_items: shownMember(arrayOf(azuracastScheduleItemSchema), row =>
      row.schedule_items.map(renderAzuracastScheduleItem)
    ),
    reactivate_at: constantMember(nullSchema, null),
    art_updated_at: computedMember(int64, ({ id }, { extras }) => computeArtVersion(extras.get(id) ?? null)),
    has_custom_art: computedMember(boolean, ({ id }, { extras }) => extras.has(id)),
    art: computedMember(string, ({ id }, { extras, stationLink }) => {
      const version = extras.get(id)
      return stationLink(`streamer/${id}/art${version === undefined ? '' : `-${version}.jpg`}`)
    }),
    links: computedMember(linksSchema, ({ id }, { stationLink }) => ({
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
