import type { ConnectedListener, ConnectedListeners } from '../../broadcast/connected-listeners.ts'
import { apiRoute, json, stationOf } from '../core/route.ts'
import { arrayOf, exactly, int64, string } from '../core/schemas.ts'
import { chartSchema, renderChart } from './chart.ts'

/*
 * Reports about listeners by program, stream and time. Cuewire stores nothing about single listeners, so they count those
 * who listen now, as the streaming servers list them; `start` and `end` have no effect.
 */

const path = '/api/station/:station_id/reports/overview'
const now = 'of those who listen now'
const topRows = 10

/** Someone who listens now, perhaps with several connections. */
interface Listener {
  readonly connection: ConnectedListener
  readonly seconds: number
}

/** Joins the connections of a listener in each group. Connections without a group are left out. */
function groupListeners(
  listeners: readonly ConnectedListener[],
  groupOf: (listener: ConnectedListener) => string | null
): ReadonlyMap<string, readonly Listener[]> {
  const groups = new Map<string, Map<string, Listener>>()
  for (const connection of listeners) {
    const group = groupOf(connection)
    if (group === null) continue
    const members = groups.get(group) ?? new Map<string, Listener>()
    const known = members.get(connection.hash)
    members.set(connection.hash, { connection, seconds: (known?.seconds ?? 0) + connection.seconds })
    groups.set(group, members)
  }
  return new Map([...groups].map(([group, members]) => [group, [...members.values()]]))
}

interface GroupReport {
  readonly name: string
  readonly id: string
  readonly summary: string
  /** The schemas of the fields that name a group, in addition to the counts. */
  readonly fields: Parameters<typeof exactly>[0]
  /** Returns the group of a listener; null: not counted. */
  readonly groupOf: (listener: ConnectedListener) => string | null
  readonly render: (group: string) => { readonly label: string; readonly fields: object }
}

const groupReport = ({ name, id, summary, fields, groupOf, render }: GroupReport) =>
  apiRoute('GET', `${path}/${name}`, 'view station reports', {
    id,
    tag: 'Listeners',
    summary,
    answer: exactly({
      all: arrayOf(exactly({ ...fields, listeners: int64, connected_seconds: int64 })),
      top_listeners: chartSchema,
      top_connected_time: chartSchema
    }),
    errors: [409],
    async handle(request, { connectedListeners }) {
      const { listeners } = await connectedListeners(stationOf(request).id)
      const groups = [...groupListeners(listeners, groupOf)].map(([group, members]) => ({
        ...render(group),
        listeners: members.length,
        seconds: members.reduce((sum, { seconds }) => sum + seconds, 0)
      }))
      return json({
        all: groups.map(group => ({
          ...group.fields,
          listeners: group.listeners,
          connected_seconds: group.seconds
        })),
        top_listeners: renderChart(
          'Listeners',
          groups.map(({ label, listeners: count }) => [label, count]),
          topRows
        ),
        top_connected_time: renderChart(
          'Connected Seconds',
          groups.map(({ label, seconds }) => [label, seconds]),
          topRows
        )
      })
    }
  })

const byBrowser = groupReport({
  name: 'by-browser',
  id: 'reportListenersByBrowser',
  summary: `The browsers ${now}`,
  fields: { browser: string },
  groupOf: ({ agent }) => (agent.isBrowser ? agent.family : null),
  render: browser => ({ label: browser, fields: { browser } })
})

const clientNames: Readonly<Record<string, string>> = {
  bot: 'Bot/Crawler',
  mobile: 'Mobile Device',
  desktop: 'Desktop Browser',
  non_browser: 'Non-Browser'
}

function clientKind({ agent }: ConnectedListener): string {
  if (agent.isBot) return 'bot'
  if (agent.isMobile) return 'mobile'
  return agent.isBrowser ? 'desktop' : 'non_browser'
}

const byClient = groupReport({
  name: 'by-client',
  id: 'reportListenersByClient',
  summary: `The kinds of programs ${now}`,
  fields: { client_raw: { ...string, enum: Object.keys(clientNames) }, client: string },
  groupOf: clientKind,
  render: raw => {
    const client = clientNames[raw] ?? raw
    return { label: client, fields: { client_raw: raw, client } }
  }
})

const byCountry = groupReport({
  name: 'by-country',
  id: 'reportListenersByCountry',
  summary: 'Always empty: addresses are not looked up',
  fields: { country_code: string, country: string },
  groupOf: () => null,
  render: country => ({ label: country, fields: { country_code: country, country } })
})

const byStream = groupReport({
  name: 'by-stream',
  id: 'reportListenersByStream',
  summary: `The streams ${now}`,
  fields: { stream_id: { ...string, examples: ['local_/radio.mp3'] }, stream: string },
  groupOf: ({ isLocal, mount }) => `${isLocal ? 'local' : 'remote'}_${mount}`,
  render: stream => {
    const name = stream.slice(stream.indexOf('_') + 1)
    return { label: name, fields: { stream_id: stream, stream: name } }
  }
})

const timeGroups = [
  [30, 'Less than Thirty Seconds'],
  [60, 'Thirty Seconds to One Minute'],
  [300, 'One Minute to Five Minutes'],
  [600, 'Five Minutes to Ten Minutes'],
  [1_800, 'Ten Minutes to Thirty Minutes'],
  [3_600, 'Thirty Minutes to One Hour'],
  [7_200, 'One Hour to Two Hours'],
  [Infinity, 'More than Two Hours']
] as const

const byListeningTime = apiRoute('GET', `${path}/by-listening-time`, 'view station reports', {
  id: 'reportListeningTimes',
  tag: 'Listeners',
  summary: `How long ${now} have been connected`,
  answer: exactly({ all: arrayOf(exactly({ label: string, value: int64 })), chart: chartSchema }),
  errors: [409],
  handle: async (request, { connectedListeners }) =>
    json(renderTimes(await connectedListeners(stationOf(request).id)))
})

function renderTimes({ listeners }: ConnectedListeners) {
  const members = groupListeners(listeners, () => 'all').get('all') ?? []
  const rows = timeGroups.map(([most, label], index) => {
    const least = timeGroups[index - 1]?.[0] ?? -1
    return { label, value: members.filter(({ seconds }) => seconds > least && seconds <= most).length }
  })
  const counted = rows.filter(({ value }) => value > 0)
  return {
    all: rows,
    chart: renderChart(
      'Listeners',
      counted.map(({ label, value }) => [label, value])
    )
  }
}

export const currentListenerReportRoutes = [byBrowser, byClient, byCountry, byStream, byListeningTime]
