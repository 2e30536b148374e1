import { int64, string } from '../../../core/schemas.ts'
import { computedMember, declareReplacedRecord, shownMember } from '../../declare-record.ts'
import { nullableString, selfLinkSchema } from '../../response-schema.ts'
import { deriveAzuracastName } from '../library/derived-name.ts'

type HlsStreamRow = {
  readonly id: number
  readonly name: string
  readonly autodj_format: string
  readonly autodj_bitrate: number
  readonly listeners_total: number
}

/** Streams that are only HLS are named `/hls/NAME`, as the migration names them, and are no visible mounts. */
export const hlsStreamDialect = declareReplacedRecord<HlsStreamRow>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    name: shownMember(string, ({ name }) => shownName(name)),
    // AzuraCast knows profiles of AAC only.
    format: shownMember(nullableString, row => (row.autodj_format === 'aac' ? 'aac' : null)),
    bitrate: shownMember(int64, row => row.autodj_bitrate),
    listeners: computedMember(int64, row => row.listeners_total),
    links: computedMember(selfLinkSchema, ({ id }, { stationLink }) => ({
      self: stationLink(`hls_stream/${id}`)
    }))
  },
  fields: { format: { type: ['string', 'null'] }, bitrate: { type: ['integer', 'null'] } },
  async parse({ format, bitrate, name, ...body }, { sql, request, stationId }) {
    const [stored] = await sql<{ name: string }[]>`
      select name from hls_streams
      where id = ${Number(request.params['id']) || 0} and station_id = ${stationId}`
    const isKept = typeof name !== 'string' || (stored && shownName(stored.name) === name)
    return {
      ...(stored ? {} : { is_visible_on_public_pages: false }),
      ...body,
      ...(isKept ? {} : { name: `/hls/${deriveAzuracastName(shownName(name))}` }),
      // The profiles `aac_he` and `aac_he_v2` are of the same codec. A format that is shown as null is kept.
      ...(typeof format === 'string' && { autodj_format: format.replace(/_he(_v2)?$/, '') }),
      ...(typeof bitrate === 'number' && { autodj_bitrate: bitrate })
    }
  }
})

const shownName = (name: string) => name.replace(/^\/(hls\/)?/, '')
