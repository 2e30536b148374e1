import { textField } from '../../model/fields/field.ts'
import type { ConnectedListener, ConnectedListeners } from '../../radio/connected-listeners.ts'
import { maySeeListenerAddresses } from '../auth/access.ts'
import {
  listResponseSchema,
  pageQueryParameters,
  toLimitAndOffset,
  parsePageQuery,
  renderListReply
} from '../core/list.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'

const path = '/api/station/:station_id/listeners'
const tag = 'Listeners'
const unknownPlace = { type: 'null', description: 'Unknown: addresses are not looked up.' }

const connectedListenerSchema = namedSchema(
  'ConnectedListener',
  'A connection to a streaming server.',
  exactObject({
    ip: { ...string, description: 'Empty without permission.' },
    user_agent: string,
    hash: {
      ...string,
      description: 'The same for the same address and user agent, until the server restarts.'
    },
    mount_is_local: { ...boolean, description: 'False: a remote.' },
    mount_name: { ...string, examples: ['/radio.mp3'], description: 'Of an HLS stream: `/radio.mp3 (HLS)`.' },
    connected_on: unixSeconds,
    connected_until: { ...int64, description: 'Unix seconds of the response of the streaming server.' },
    connected_time: { ...int64, description: 'Seconds' },
    device: exactObject({
      client: { ...string, examples: ['VLC'] },
      is_browser: boolean,
      is_mobile: boolean,
      is_bot: boolean,
      browser_family: { ...string, description: 'Empty if it is no browser.' },
      os_family: { ...string, description: 'Empty: unknown.' }
    }),
    location: exactObject({
      description: unknownPlace,
      country: unknownPlace,
      region: unknownPlace,
      city: unknownPlace,
      lat: unknownPlace,
      lon: unknownPlace
    })
  })
)

const groups = (name: string) => arrayOf(exactObject({ [name]: string, total: int64 }))

const listenerSummarySchema = namedSchema(
  'ListenerSummary',
  'The connected listeners, counted by what they have in common.',
  exactObject({
    at: { ...int64, description: 'Unix seconds of the responses of the streaming servers.' },
    total: { ...int64, description: 'All connections, also those that are not listed.' },
    unique: { ...int64, description: 'Distinct listed listeners.' },
    listed: { ...int64, description: 'Listed connections, at most 10,000.' },
    problem: { ...string, description: 'Why listeners are not listed; empty: all are.' },
    by_mount: arrayOf(exactObject({ mount_name: string, mount_is_local: boolean, total: int64 })),
    by_client: groups('client'),
    by_os: groups('os_family'),
    by_connected_time: arrayOf(
      exactObject({ from: { ...int64, description: 'Seconds; the end is the next `from`.' }, total: int64 })
    )
  })
)

const filter = openQueryFilters({
  mount: textField({ max: 255, about: 'Only listeners of this mount.', example: '/radio.mp3' }),
  client: textField({
    max: 100,
    about: 'Only listeners with this program, as in `device.client`.',
    example: 'VLC'
  })
})

const list = apiRoute('GET', path, 'view station reports', {
  id: 'listConnectedListeners',
  tag,
  summary: 'Who listens now, as the streaming servers and the HLS log list them; longest connected first',
  query: { ...pageQueryParameters, ...filter.schemas },
  responseRecord: 'ConnectedListener',
  response: listResponseSchema(connectedListenerSchema),
  errors: [409],
  async handle(request, { connectedListeners, config }) {
    const station = getRequestStation(request)
    const page = { page: parsePageQuery(request), search: '', sort: null, isDescending: false }
    const { mount, client } = filter.parse(request.query)
    const { atMs, listeners } = await connectedListeners(station.id)
    const showsAddresses = maySeeListenerAddresses(request.caller?.key ?? null, station.id)
    const found = listeners
      .filter(each => mount === undefined || each.source === mount)
      .filter(each => client === undefined || each.agent.family === client)
      .toSorted((a, b) => b.seconds - a.seconds)
    const { limit, offset } = toLimitAndOffset(page)
    const rows = found.slice(offset, offset + limit).map(each => renderListener(each, atMs, showsAddresses))
    const shown = request.renderRows ? await request.renderRows(rows) : rows
    const elements = shown.length === 0 ? [] : [Buffer.from(JSON.stringify(shown).slice(1, -1))]
    return renderListReply({ elements, total: found.length }, page, request, config.BASE_URL)
  }
})

function renderListener(listener: ConnectedListener, atMs: number, showsAddresses: boolean) {
  const { address, userAgent, hash, isLocal, source, seconds, agent } = listener
  const until = Math.floor(atMs / 1_000)
  return {
    ip: showsAddresses ? address : '',
    user_agent: userAgent,
    hash,
    mount_is_local: isLocal,
    mount_name: source,
    connected_on: until - seconds,
    connected_until: until,
    connected_time: seconds,
    device: {
      client: agent.family,
      is_browser: agent.isBrowser,
      is_mobile: agent.isMobile,
      is_bot: agent.isBot,
      browser_family: agent.isBrowser ? agent.family : '',
      os_family: agent.system
    },
    location: { description: null, country: null, region: null, city: null, lat: null, lon: null }
  }
}

const summary = apiRoute('GET', `${path}/summary`, 'view station reports', {
  id: 'summarizeConnectedListeners',
  tag,
  summary: 'How many listen now, by mount, program, system and time since they connected',
  response: listenerSummarySchema,
  errors: [409],
  handle: async (request, { connectedListeners }) =>
    jsonReply(summarize(await connectedListeners(getRequestStation(request).id)))
})

/** Seconds at which the groups of `by_connected_time` begin. */
const timeSteps = [0, 60, 300, 900, 3_600, 4 * 3_600, 24 * 3_600]

function summarize({ atMs, listeners, sources, problem }: ConnectedListeners) {
  const countBy = (keyOf: (listener: ConnectedListener) => string) => {
    const totals = new Map<string, number>()
    for (const key of listeners.map(keyOf)) totals.set(key, (totals.get(key) ?? 0) + 1)
    return [...totals].toSorted(([a, most], [b, others]) => others - most || a.localeCompare(b))
  }
  const isAtLeast = (from: number) => listeners.filter(({ seconds }) => seconds >= from).length
  return {
    at: Math.floor(atMs / 1_000),
    total: sources.reduce((sum, { total }) => sum + total, 0),
    unique: new Set(listeners.map(({ hash }) => hash)).size,
    listed: listeners.length,
    problem,
    by_mount: sources.map(({ name, isLocal, total }) => ({
      mount_name: name,
      mount_is_local: isLocal,
      total
    })),
    by_client: countBy(({ agent }) => agent.family).map(([client, total]) => ({ client, total })),
    by_os: countBy(({ agent }) => agent.system).map(([system, total]) => ({ os_family: system, total })),
    by_connected_time: timeSteps.map((from, index) => ({
      from,
      total: isAtLeast(from) - isAtLeast(timeSteps[index + 1] ?? Infinity)
    }))
  }
}

export const connectedListenerRoutes = [list, summary]
