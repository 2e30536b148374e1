import { browserFamilies } from '../../radio/user-agent.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { clientKinds } from '../../stores/redis/session-store.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'
import { chartSchema, renderChart } from './chart.ts'
import { sessionLengthGroups } from './listener-sessions.ts'
import { reportPeriodParameters } from './report-period.ts'
import { readSessionGroupSums, readSessionLengthSums } from './session-report.ts'

/*
 * Reports about listeners in the form of AzuraCast. Cuewire does not know who came back, so `listeners` are sessions.
 */

const path = '/api/station/:station_id/reports/overview'
const ofPeriod = 'of the sessions of listeners in a period'
const topRows = 10

interface GroupReport {
  readonly name: string
  readonly id: string
  readonly summary: string
  /** The schemas of the fields that name a group, in addition to the counts. */
  readonly fields: Parameters<typeof exactObject>[0]
  /** SQL of the name of a session's group. */
  readonly column: string
  /** SQL of the sessions that count; all without it. */
  readonly where?: (sql: Sql) => Fragment
  readonly render: (group: string) => { readonly label: string; readonly fields: object }
}

const groupReport = ({ name, id, summary, fields, column, where, render }: GroupReport) =>
  apiRoute('GET', `${path}/${name}`, 'view station reports', {
    id,
    tag: 'Listeners',
    summary,
    query: reportPeriodParameters,
    response: exactObject({
      all: arrayOf(exactObject({ ...fields, listeners: int64, connected_seconds: int64 })),
      top_listeners: chartSchema,
      top_connected_time: chartSchema
    }),
    async handle(request, services) {
      const rows = await readSessionGroupSums(request, services, { columns: { group: column }, where })
      const groups = rows.map(row => ({
        ...render(row.group),
        listeners: row.sessions,
        seconds: Math.round(row.ms / 1_000)
      }))
      return jsonReply({
        all: groups.map(group => ({
          ...group.fields,
          listeners: group.listeners,
          connected_seconds: group.seconds
        })),
        top_listeners: renderChart(
          'Listeners',
          groups.map(({ label, listeners }) => [label, listeners]),
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
  summary: `The browsers ${ofPeriod}`,
  fields: { browser: string },
  column: 'family',
  where: sql => sql`family = any(${[...browserFamilies]}::text[])`,
  render: browser => ({ label: browser, fields: { browser } })
})

const clientNames: Readonly<Record<string, string>> = {
  bot: 'Bot/Crawler',
  mobile: 'Mobile Device',
  desktop: 'Desktop Browser',
  non_browser: 'Non-Browser'
}

const byClient = groupReport({
  name: 'by-client',
  id: 'reportListenersByClient',
  summary: `The kinds of programs ${ofPeriod}`,
  fields: { client_raw: { ...string, enum: [...clientKinds] }, client: string },
  column: 'client',
  render: raw => {
    const client = clientNames[raw] ?? raw
    return { label: client, fields: { client_raw: raw, client } }
  }
})

const regionNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' })

const byCountry = groupReport({
  name: 'by-country',
  id: 'reportListenersByCountry',
  summary: `The countries ${ofPeriod}; empty without GEO_DATABASE`,
  fields: { country_code: string, country: string },
  column: 'country',
  where: sql => sql`country <> ''`,
  render: code => {
    const country = regionNames.of(code) ?? code
    return { label: country, fields: { country_code: code, country } }
  }
})

const byStream = groupReport({
  name: 'by-stream',
  id: 'reportListenersByStream',
  summary: `The streams ${ofPeriod}`,
  fields: { stream_id: { ...string, examples: ['local_/radio.mp3'] }, stream: string },
  column: "case source when 'remote' then 'remote_' when 'hls' then 'hls_' else 'local_' end || stream",
  render: stream => {
    const name = stream.slice(stream.indexOf('_') + 1)
    return { label: name, fields: { stream_id: stream, stream: name } }
  }
})

const byListeningTime = apiRoute('GET', `${path}/by-listening-time`, 'view station reports', {
  id: 'reportListeningTimes',
  tag: 'Listeners',
  summary: `The length ${ofPeriod}`,
  query: reportPeriodParameters,
  response: exactObject({ all: arrayOf(exactObject({ label: string, value: int64 })), chart: chartSchema }),
  async handle(request, services) {
    const groups = await readSessionLengthSums(request, services)
    const rows = sessionLengthGroups.map(([, label], index) => ({
      label,
      value: groups[index]?.sessions ?? 0
    }))
    const counted = rows.filter(({ value }) => value > 0)
    return jsonReply({
      all: rows,
      chart: renderChart(
        'Listeners',
        counted.map(({ label, value }) => [label, value])
      )
    })
  }
})

export const listenerOverviewRoutes = [byBrowser, byClient, byCountry, byStream, byListeningTime]
