import { parseUrl } from '../../../../platform/outbound/networks.ts'
import { boolean, int64, nullableInt64, string } from '../../../core/schemas.ts'
import { computedMember, constantMember, declareReplacedRecord, shownMember } from '../../declare-record.ts'
import { emptyToNull, renameMembers } from '../../record-dialect.ts'
import { nullSchema, nullableString, selfLinkSchema } from '../../response-schema.ts'

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

/** AzuraCast has the mount apart from the server. */
export const remoteDialect = declareReplacedRecord<RemoteRow>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    relay_id: computedMember(nullSchema, () => null),
    display_name: shownMember(string, ({ name }) => name),
    is_visible_on_public_pages: shownMember(boolean, row => row.is_visible),
    type: shownMember(string, ({ type }) => type || unpolledType),
    is_editable: computedMember(boolean, () => true),
    // Cuewire sends no stream to remotes.
    enable_autodj: constantMember(boolean, false),
    custom_listen_url: constantMember(nullSchema, null),
    source_port: constantMember(nullSchema, null),
    source_mount: constantMember(nullSchema, null),
    source_username: constantMember(nullSchema, null),
    source_password: constantMember(nullSchema, null),
    is_public: constantMember(boolean, false),
    autodj_format: shownMember(nullableString, ({ format }) => emptyToNull(format)),
    autodj_bitrate: shownMember(nullableInt64, ({ bitrate }) => bitrate || null),
    url: shownMember(string, row => splitAddress(row).url),
    mount: shownMember(nullableString, row => splitAddress(row).mount),
    admin_password: shownMember(string, () => ''),
    listeners_unique: shownMember(int64, row => row.listeners_unique),
    listeners_total: shownMember(int64, row => row.listeners_total),
    links: computedMember(selfLinkSchema, ({ id }, { stationLink }) => ({
      self: stationLink(`remote/${id}`)
    }))
  },
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
    const known = stored && splitAddress(stored)
    const { url = known?.url, mount = known?.mount, ...rest } = renameMembers(body, names)
    const isNew = stored === undefined
    const isShown = known !== undefined && url === known.url && mount === known.mount
    return {
      ...rest,
      ...(('url' in body || 'mount' in body) && {
        url: isShown ? stored?.url : joinAddress(url, mount, rest['type'] ?? stored?.type)
      }),
      ...(isNew && { name: rest['name'] || parseUrl(String(url))?.host }),
      ...('type' in rest && { type: pollType(rest['type'], stored?.type) })
    }
  }
})

/** The type that is shown for a remote that is not polled. */
const unpolledType = 'icecast'

/** The first version of Shoutcast is not polled. A remote that is not polled is shown as Icecast, and stays so. */
function pollType(type: unknown, stored: string | undefined): unknown {
  if (stored === '' && type === unpolledType) return ''
  return type === 'shoutcast1' ? '' : type
}

/** The mount of Shoutcast 2 is the number of a stream, which its address has as `/?sid=2`. */
function splitAddress({ url: address, type }: { readonly url: string; readonly type: string }): {
  readonly url: string
  readonly mount: string | null
} {
  const url = parseUrl(address)
  if (url === null) return { url: address, mount: null }
  const [, path = '', id] =
    (type === 'shoutcast2' && /^(.*)\/\?sid=(\d+)$/.exec(url.pathname + url.search)) || []
  if (id !== undefined) return { url: url.origin + path, mount: id }
  return { url: url.origin, mount: emptyToNull(`${url.pathname}${url.search}`.replace(/^\/$/, '')) }
}

/** The address of the stream: the mount is below the path of the server. */
function joinAddress(url: unknown, mount: unknown, type: unknown): unknown {
  const base = typeof url === 'string' ? parseUrl(url) : null
  if (base === null || typeof mount !== 'string' || mount === '') return url
  const isNumber = type === 'shoutcast2' && /^\d+$/.test(mount)
  const [path = '', ...query] = (isNumber ? `?sid=${mount}` : mount).split('?')
  const joined = new URL(base)
  joined.pathname = `${base.pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
  if (query.length > 0) joined.search = query.join('?')
  return joined.href
}
