import type { RecordDialect } from './record-dialect.ts'

type HlsStreamRow = {
  readonly id: number
  readonly name: string
  readonly autodj_format: string
  readonly autodj_bitrate: number
  readonly listeners_total: number
}

export const hlsStream: RecordDialect<HlsStreamRow> = {
  computed: ['station_id', 'listeners', 'links'],
  render: (rows, { stationId, stationLink }) =>
    rows.map(row => ({
      id: row.id,
      station_id: stationId,
      name: row.name.replace(/^\//, ''),
      // AzuraCast knows profiles of AAC only.
      format: row.autodj_format === 'aac' ? 'aac' : null,
      bitrate: row.autodj_bitrate,
      listeners: row.listeners_total,
      links: { self: stationLink(`hls_stream/${row.id}`) }
    })),
  fields: { format: { type: ['string', 'null'] }, bitrate: { type: ['integer', 'null'] } },
  parse({ format, bitrate, ...body }) {
    // The profiles `aac_he` and `aac_he_v2` are of the same codec. A format that is shown as null is kept.
    const codec = typeof format === 'string' ? { autodj_format: format.replace(/_he(_v2)?$/, '') } : {}
    return { ...body, ...codec, ...(typeof bitrate === 'number' && { autodj_bitrate: bitrate }) }
  }
}
