import { int64, string } from '../../../core/schemas.ts'
import { nullableString, replaceSchema, selfLink } from '../../answer-schema.ts'
import type { RecordDialect } from '../../record-dialect.ts'
import { derivedName } from '../library/derived-name.ts'

type HlsStreamRow = {
  readonly id: number
  readonly name: string
  readonly autodj_format: string
  readonly autodj_bitrate: number
  readonly listeners_total: number
}

/** Streams that are only HLS are named `/hls/NAME`, as the migration names them, and are no visible mounts. */
export const hlsStream: RecordDialect<HlsStreamRow> = {
  answer: replaceSchema({
    id: int64,
    station_id: int64,
    name: string,
    format: nullableString,
    bitrate: int64,
    listeners: int64,
    links: selfLink
  }),
  computed: ['station_id', 'listeners', 'links'],
  render: (rows, { stationId, stationLink }) =>
    rows.map(row => ({
      id: row.id,
      station_id: stationId,
      name: shownName(row.name),
      // AzuraCast knows profiles of AAC only.
      format: row.autodj_format === 'aac' ? 'aac' : null,
      bitrate: row.autodj_bitrate,
      listeners: row.listeners_total,
      links: { self: stationLink(`hls_stream/${row.id}`) }
    })),
  fields: { format: { type: ['string', 'null'] }, bitrate: { type: ['integer', 'null'] } },
  async parse({ format, bitrate, name, ...body }, { sql, request, stationId }) {
    const [stored] = await sql<{ name: string }[]>`
      select name from hls_streams
      where id = ${Number(request.params['id']) || 0} and station_id = ${stationId}`
    const isKept = typeof name !== 'string' || (stored && shownName(stored.name) === name)
    return {
      ...(stored ? {} : { is_visible_on_public_pages: false }),
      ...body,
      ...(isKept ? {} : { name: `/hls/${derivedName(shownName(name))}` }),
      // The profiles `aac_he` and `aac_he_v2` are of the same codec. A format that is shown as null is kept.
      ...(typeof format === 'string' && { autodj_format: format.replace(/_he(_v2)?$/, '') }),
      ...(typeof bitrate === 'number' && { autodj_bitrate: bitrate })
    }
  }
}

const shownName = (name: string) => name.replace(/^\/(hls\/)?/, '')
