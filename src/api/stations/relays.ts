import * as v from 'valibot'

import { changeStation } from '../../engine/change-station.ts'
import { recordSourceCounts } from '../../engine/listeners/count-listeners.ts'
import {
  validatedField,
  flagField,
  formatCheckMessage,
  textField,
  type ValuesOf,
  webAddressField
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { mountDisplayName, renderStationObject } from '../../model/station/now-playing.ts'
import { parseUrl } from '../../platform/outbound/networks.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { hasPermission } from '../auth/access.ts'
import { recordAudit, changedWithoutValues } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply, type HandledRoute } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, schemaRef, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

// A relay is a server of others that relays mounts: it reads here what to relay, and registers itself, as AzuraRelay
// does.

const path = '/api/internal/relays'
const tag = 'Remotes'
const maxStations = 1_000

interface RelayedStation {
  readonly id: number
  readonly frontendUrl: string
}

/** The stations with a streaming server that the caller may control. */
async function readRelayedStations(sql: Sql, { caller }: ApiRequest): Promise<readonly RelayedStation[]> {
  const key = caller?.key
  const rows = await sql<RelayedStation[]>`
    select id, frontend_url as "frontendUrl" from stations
    where deleted_at is null and is_enabled and frontend <> 'remote' order by id`
  const mayRelay = (stationId: number) =>
    key && hasPermission(key, { permission: 'manage station broadcasting', stationId, isRead: false })
  return rows.filter(({ id }) => mayRelay(id)).slice(0, maxStations)
}

const portOf = (address: string) => {
  const url = parseUrl(address)
  if (url === null) return null
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

const read = apiRoute('GET', path, 'any key', {
  id: 'listRelayedStations',
  tag,
  summary: 'The stations that the key may relay, with their mounts; passwords are never shown',
  response: arrayOf(
    exactObject({
      id: int64,
      name: string,
      shortcode: string,
      description: string,
      url: string,
      genre: string,
      type: string,
      port: { ...int64, type: ['integer', 'null'] },
      relay_pw: { ...string, const: '' },
      admin_pw: { ...string, const: '' },
      mounts: arrayOf(schemaRef('NowPlayingMount'))
    })
  ),
  async handle(request, { reads: sql, live, config }) {
    const stations = await readRelayedStations(sql, request)
    return jsonReply(
      stations.flatMap(({ id, frontendUrl }) => {
        const state = live.findState(id)
        if (!state) return []
        const {
          name,
          shortcode,
          description,
          url,
          frontend: type,
          mounts
        } = renderStationObject(state, config.BASE_URL)
        const secrets = { relay_pw: '', admin_pw: '' }
        return [
          {
            id,
            name,
            shortcode,
            description,
            url,
            genre: '',
            type,
            port: portOf(frontendUrl),
            ...secrets,
            mounts
          }
        ]
      })
    )
  }
})

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000_000))
/** The part of a now-playing result that is used. */
const result = v.looseObject({
  listeners: v.optional(v.looseObject({ total: count, unique: v.nullish(count) }))
})
/** Of all stations. Each that is not valid takes some microseconds. */
const maxMounts = 2_000
const countMounts = (stations: unknown) =>
  Object.values(Object(stations)).reduce<number>((sum, mounts) => sum + Object.keys(Object(mounts)).length, 0)
const results = v.pipe(
  v.unknown(),
  v.check(
    stations => countMounts(stations) <= maxMounts,
    formatCheckMessage('too_long', `must have at most ${maxMounts} mounts.`)
  ),
  v.record(v.string(), v.record(v.string(), result))
)

const fields = {
  base_url: webAddressField({
    max: 255,
    about: 'Where listeners find the relay; empty: http:// and the address of the request.'
  }),
  name: textField({
    max: 100,
    isTrimmed: true,
    fallback: 'Relay',
    about: 'Shown to listeners.',
    example: 'Oslo'
  }),
  is_visible_on_public_pages: flagField({ fallback: true, about: 'Whether now playing lists its streams.' }),
  nowplaying: validatedField(results, {
    fallback: {},
    schema: {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: 'object' } }
    },
    about:
      'Its listeners, by station id and mount: {"1": {"/radio.mp3": {"listeners": {"total": 3, "unique": 2}}}}.',
    example: { 1: { '/radio.mp3': { listeners: { total: 3, unique: 2 } } } }
  })
}
const validator = bodyValidator(fields)

interface Relay {
  readonly id: number
  readonly name: string
  readonly baseUrl: string
  readonly isVisible: boolean
}

const register = apiRoute('POST', path, 'any key', {
  id: 'registerRelay',
  tag,
  summary:
    'Register a relay: the stations that the key may control get its streams as remotes, with its listeners',
  body: bodySchema(fields),
  response: schemaRef('ActionResult'),
  async handle(request, services) {
    const values = parseBody(validator, request.body)
    const { sql } = services
    const stations = await readRelayedStations(sql, request)
    if (stations.length === 0)
      throw new ApiError('invalid', 'The key may control no station with a streaming server.')
    const relay = await storeRelay(sql, request, values)
    for (const station of stations) await updateRemotes(services, request, relay, station)
    await recordListeners(services, relay, new Set(stations.map(({ id }) => id)), values.nowplaying)
    return actionReply('The relay was registered.')
  }
})

async function storeRelay(sql: Sql, request: ApiRequest, values: ValuesOf<typeof fields>): Promise<Relay> {
  const baseUrl = (values.base_url || `http://${request.address}`).replace(/\/+$/, '')
  const { name, is_visible_on_public_pages: isVisible } = values
  const [row] = await sql<{ id: number }[]>`
    insert into relays (base_url, name, is_visible_on_public_pages) values (${baseUrl}, ${name}, ${isVisible})
    on conflict (base_url) do update
    set name = excluded.name, is_visible_on_public_pages = excluded.is_visible_on_public_pages, updated_at = now()
    returning id`
  if (!row) throw new Error('insert returned no row')
  return { id: row.id, name, baseUrl, isVisible }
}

/** A remote as it should be. */
interface RelayedMount {
  readonly mount: string
  readonly name: string
  readonly url: string
  readonly is_visible: boolean
  readonly bitrate: number
  readonly format: string
}

/** Creates, changes and deletes the remotes of a relay, if they differ from the mounts of a station. */
async function updateRemotes(
  services: ApiServices,
  request: ApiRequest,
  relay: Relay,
  station: RelayedStation
) {
  const wanted = mountsOf(services, relay, station)
  const stored = await services.sql<RelayedMount[]>`
    select relayed_mount as mount, name, url, is_visible, bitrate, format from remotes
    where relay_id = ${relay.id} and station_id = ${station.id} and relayed_mount is not null order by relayed_mount`
  if (JSON.stringify(stored.map(renderRow)) === JSON.stringify(wanted.map(renderRow))) return
  await changeStation(services, station.id, async ({ tx, mark }) => {
    const mounts = wanted.map(({ mount }) => mount)
    await tx`
      delete from remotes where relay_id = ${relay.id} and station_id = ${station.id}
        and relayed_mount <> all(${mounts}::text[])`
    for (const { mount, ...row } of wanted)
      await tx`
        insert into remotes ${tx({ ...row, station_id: station.id, relay_id: relay.id, relayed_mount: mount })}
        on conflict (relay_id, station_id, relayed_mount) where relay_id is not null
        do update set ${tx(row)}`
    mark(['station'])
    await recordAudit(tx, request, {
      record: 'Relay',
      id: relay.id,
      name: relay.baseUrl,
      changes: changedWithoutValues('remotes')
    })
  })
}

const renderRow = ({ mount, name, url, is_visible, bitrate, format }: RelayedMount) => [
  mount,
  name,
  url,
  is_visible,
  bitrate,
  format
]

function mountsOf({ live }: ApiServices, relay: Relay, station: RelayedStation): readonly RelayedMount[] {
  const state = live.findState(station.id)
  const { mounts = [], shortName = '' } = state?.profile ?? {}
  return mounts
    .map(mount => ({
      mount: mount.path,
      name: `${mountDisplayName(mount)} (${relay.name})`.slice(0, 100),
      url: relayedStreamUrl(relay.baseUrl, shortName, mount.path, portOf(station.frontendUrl)),
      is_visible: relay.isVisible,
      bitrate: mount.bitrate,
      format: mount.format
    }))
    .toSorted((one, other) => (one.mount < other.mount ? -1 : 1))
}

/** A relay has the port of the station's server, or with https a proxy with a path for each station. */
function relayedStreamUrl(baseUrl: string, shortName: string, mount: string, port: number | null): string {
  const url = new URL(baseUrl)
  if (url.protocol === 'https:' || port === null)
    return `${baseUrl}/listen/${encodeURIComponent(shortName)}${mount}`
  url.port = String(port)
  url.pathname = mount
  return url.href
}

async function recordListeners(
  services: ApiServices,
  relay: Relay,
  allowed: ReadonlySet<number>,
  reported: v.InferOutput<typeof results>
): Promise<void> {
  const rows = await services.sql<{ id: number; stationId: number; mount: string }[]>`
    select id, station_id as "stationId", relayed_mount as mount from remotes
    where relay_id = ${relay.id} and relayed_mount is not null`
  for (const stationId of allowed) {
    const ofStation = reported[stationId] ?? {}
    const remotes = rows.filter(row => row.stationId === stationId)
    const counts = remotes.flatMap(({ id, mount }) => {
      const listeners = ofStation[mount]?.listeners
      if (!listeners) return []
      const { total } = listeners
      return [{ id, total, unique: Math.min(total, listeners.unique ?? total) }]
    })
    if (counts.length > 0)
      await recordSourceCounts(services, stationId, { mounts: [], remotes: counts, hls: [] })
  }
}

const list = listRoute('/api/admin/relays/list', 'administer stations', {
  id: 'listRelays',
  tag,
  summary: 'The relays that have registered themselves',
  record: namedSchema(
    'Relay',
    'A relay that has registered itself.',
    exactObject({
      id: int64,
      base_url: string,
      name: string,
      is_visible_on_public_pages: boolean,
      created_at: { ...string, format: 'date-time' },
      updated_at: { ...string, format: 'date-time' }
    })
  ),
  open(query, _, { reads: sql }) {
    const contains = containsTextFragment(sql, query.search)
    const where = sql`where name ${contains} or base_url ${contains}`
    return {
      select: sql`select id, base_url, name, is_visible_on_public_pages, created_at, updated_at from relays ${where} order by id`,
      matching: sql`select from relays ${where}`
    }
  }
})

/** The former address, which AzuraCast redirects as well. */
const redirects = (['GET', 'POST'] as const).map((method): HandledRoute => ({
  method,
  path: '/api/admin/relays',
  access: 'any key',
  isStreamed: method === 'POST',
  handle: (_, { config }) => ({ status: 307, headers: { Location: config.BASE_URL + path } })
}))

export const relayRoutes = [read, register, list]
export const relayRedirects = redirects
