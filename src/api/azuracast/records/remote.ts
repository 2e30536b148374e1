import { parseUrl } from '../../../outbound/networks.ts'
import { orNull, type RecordDialect, renameMembers } from '../record-dialect.ts'

type RemoteRow = {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly type: string
  readonly is_visible: boolean
  readonly bitrate: number
  readonly format: string
  readonly listeners_unique: number
  readonly listeners_total: number
}

const names = {
  display_name: 'name',
  is_visible_on_public_pages: 'is_visible',
  autodj_format: 'format',
  autodj_bitrate: 'bitrate'
}

/** Cuewire sends no stream to remotes. */
const noSource = {
  enable_autodj: false,
  custom_listen_url: null,
  source_port: null,
  source_mount: null,
  source_username: null,
  source_password: null,
  is_public: false
}

/** AzuraCast has the mount apart from the server. */
export const remote: RecordDialect<RemoteRow> = {
  computed: ['station_id', 'relay_id', 'is_editable', 'links'],
  render: (rows, { stationId, stationLink }) =>
    rows.map(row => ({
      id: row.id,
      station_id: stationId,
      relay_id: null,
      display_name: row.name,
      is_visible_on_public_pages: row.is_visible,
      type: row.type || unpolledType,
      is_editable: true,
      ...noSource,
      autodj_format: orNull(row.format),
      autodj_bitrate: row.bitrate || null,
      ...splitAddress(row.url),
      admin_password: '',
      listeners_unique: row.listeners_unique,
      listeners_total: row.listeners_total,
      links: { self: stationLink(`remote/${row.id}`) }
    })),
  constants: () => noSource,
  fields: {
    display_name: { type: 'string' },
    is_visible_on_public_pages: { type: 'boolean' },
    autodj_format: { type: ['string', 'null'] },
    autodj_bitrate: { type: ['integer', 'null'] },
    mount: { type: ['string', 'null'] }
  },
  async parse(body, { sql, stationId, request }) {
    const [stored] = await sql<{ url: string; type: string }[]>`
      select url, type from remotes
      where id = ${Number(request.params['id']) || 0} and station_id = ${stationId}`
    const { mount, url = stored && splitAddress(stored.url).url, ...rest } = renameMembers(body, names)
    const isNew = stored === undefined
    const address = joinAddress(url, mount ?? (stored && splitAddress(stored.url).mount))
    return {
      ...rest,
      ...(('url' in body || 'mount' in body) && { url: address }),
      ...(isNew && { name: rest['name'] || parseUrl(String(url))?.host }),
      ...('type' in rest && { type: pollType(rest['type'], stored?.type) })
    }
  }
}

/** The type that is shown for a remote that is not polled. */
const unpolledType = 'icecast'

/** The first version of Shoutcast is not polled. A remote that is not polled is shown as Icecast, and stays so. */
function pollType(type: unknown, stored: string | undefined): unknown {
  if (stored === '' && type === unpolledType) return ''
  return type === 'shoutcast1' ? '' : type
}

function splitAddress(address: string): { readonly url: string; readonly mount: string | null } {
  const url = parseUrl(address)
  if (url === null) return { url: address, mount: null }
  return { url: url.origin, mount: orNull(`${url.pathname}${url.search}`.replace(/^\/$/, '')) }
}

function joinAddress(url: unknown, mount: unknown): unknown {
  const base = typeof url === 'string' ? parseUrl(url) : null
  if (base === null || typeof mount !== 'string' || mount === '') return url
  return new URL(mount.startsWith('/') ? mount : `/${mount}`, base).href
}
