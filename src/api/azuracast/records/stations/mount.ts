import { refuseField } from '../../../../platform/runtime/errors.ts'
import { int64 } from '../../../core/schemas.ts'
import { changeSchema, links, nullableString } from '../../answer-schema.ts'
import { isJsonBody, type JsonBody, orNull, type RecordDialect } from '../../record-dialect.ts'

type MountRow = {
  readonly id: number
  readonly name: string
  readonly fallback_mount: string
  readonly relay_url: string
  readonly authhash: string
  readonly custom_listen_url: string
  readonly frontend_config: string
}

export const mount: RecordDialect<MountRow> = {
  answer: changeSchema({
    nullable: ['fallback_mount', 'relay_url', 'authhash', 'custom_listen_url', 'frontend_config'],
    fields: { station_id: int64, intro_path: nullableString, links }
  }),
  computed: ['station_id', 'intro_path', 'links'],
  parse(body) {
    const { name } = body
    if (typeof name === 'string' && /^\s*\/*hls\//.test(name))
      refuseField('name', 'invalid_format', 'must not begin with /hls/, as the names of HLS streams do.')
    const { frontend_config: config } = body
    return typeof config === 'string' ? { ...body, frontend_config: wrapConfig(config) } : body
  },
  async render(rows, { sql, services, stationId, stationLink }) {
    const found = await sql<{ id: number; intro: string; station: string }[]>`
      select x.id, x.intro_path as intro, s.short_name as station
      from hls_streams x join stations s on s.id = x.station_id
      where x.id = any(${rows.map(({ id }) => id)}::bigint[])`
    const facts = new Map(found.map(row => [row.id, row]))
    return rows.map(row => {
      const { intro = '', station = '' } = facts.get(row.id) ?? {}
      const address = `${services.config.BASE_URL}/listen/${station}${row.name}`
      return {
        ...row,
        station_id: stationId,
        fallback_mount: orNull(row.fallback_mount),
        relay_url: orNull(row.relay_url),
        authhash: orNull(row.authhash),
        custom_listen_url: orNull(row.custom_listen_url),
        intro_path: orNull(intro),
        frontend_config: orNull(unwrapConfig(row.frontend_config)),
        links: {
          self: stationLink(`mount/${row.id}`),
          intro: stationLink(`mount/${row.id}/intro`),
          listen: row.custom_listen_url || address
        }
      }
    })
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
