import { refuseField } from '../../../../platform/runtime/errors.ts'
import { int64 } from '../../../core/schemas.ts'
import { declareChangedRecord, computedMember, shownMember } from '../../declare-record.ts'
import { type DialectContext, isJsonBody, type JsonBody, emptyToNull } from '../../record-dialect.ts'
import { linksSchema, nullableString, toNullableSchema } from '../../response-schema.ts'

type MountRow = {
  readonly id: number
  readonly name: string
  readonly fallback_mount: string
  readonly relay_url: string
  readonly authhash: string
  readonly custom_listen_url: string
  readonly frontend_config: string
}

export const mountDialect = declareChangedRecord<MountRow, ReadonlyMap<number, MountExtras>>({
  emptyAsNull: ['fallback_mount', 'relay_url', 'authhash', 'custom_listen_url'],
  members: {
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    intro_path: computedMember(nullableString, ({ id }, { extras }) =>
      emptyToNull(extras.get(id)?.intro ?? '')
    ),
    frontend_config: shownMember(toNullableSchema, row => emptyToNull(unwrapConfig(row.frontend_config))),
    links: computedMember(linksSchema, linksOf)
  },
  async read(rows, { sql }) {
    const found = await sql<MountExtras[]>`
      select x.id, x.intro_path as intro, s.short_name as station
      from hls_streams x join stations s on s.id = x.station_id
      where x.id = any(${rows.map(({ id }) => id)}::bigint[])`
    return new Map(found.map(row => [row.id, row]))
  },
  parse(body) {
    const { name } = body
    if (typeof name === 'string' && /^\s*\/*hls\//.test(name))
      refuseField('name', 'invalid_format', 'must not begin with /hls/, as the names of HLS streams do.')
    const { frontend_config: config } = body
    return typeof config === 'string' ? { ...body, frontend_config: wrapConfig(config) } : body
  }
})

interface MountExtras {
  readonly id: number
  readonly intro: string
  readonly station: string
}

function linksOf(
  row: MountRow,
  { extras, services, stationLink }: DialectContext & { readonly extras: ReadonlyMap<number, MountExtras> }
) {
  const address = `${services.config.BASE_URL}/listen/${extras.get(row.id)?.station ?? ''}${row.name}`
  return {
    self: stationLink(`mount/${row.id}`),
    intro: stationLink(`mount/${row.id}/intro`),
    listen: row.custom_listen_url || address
  }
}

/** Text of any form, which is stored as a setting of this name, as the migration stores it. */
const textSetting = 'custom_config'

/** The config to store for a text: a JSON object remains as it is. */
const wrapConfig = (text: string) =>
  text.trim() === '' || parseObject(text) !== null ? text : JSON.stringify({ [textSetting]: text })

function unwrapConfig(config: string): string {
  const { [textSetting]: text, ...others } = parseObject(config) ?? {}
  return typeof text === 'string' && Object.keys(others).length === 0 ? text : config
}

function parseObject(text: string): JsonBody | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonBody(value) ? value : null
  } catch {
    return null
  }
}
