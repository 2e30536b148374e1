import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { hasPermission } from '../auth/access.ts'
import { parseQueryInteger } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, boolean, exactObject, namedSchema, nullableInt64, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { renderStationScript } from '../playout/liquidsoap.ts'

/*
 * What Cuewire knows about a station, as logs. Liquidsoap and the streaming server run elsewhere and write their own
 * logs, which Cuewire does not read. No line contains a secret or the address of a listener.
 */

const path = '/api/station/:station_id'
const tag = 'Broadcasting'
const access = 'view station logs'
const maxLines = 500

const logTypeSchema = namedSchema(
  'LogType',
  'A log that can be read.',
  exactObject({
    key: string,
    name: string,
    path: { ...string, description: 'A file name for the log.' },
    tail: { ...boolean, description: 'Whether lines are added, which `position` continues.' },
    links: exactObject({ self: string })
  })
)

export const logContentsSchema = namedSchema(
  'LogContents',
  'Lines of a log.',
  exactObject({
    contents: string,
    eof: { ...boolean, description: 'True: the log is complete. False: request it again with `position`.' },
    position: {
      ...nullableInt64,
      description: 'Send it as `position` to get only newer lines; null: no lines are added.'
    }
  })
)

interface Line {
  readonly id: number
  readonly line: string
}

interface LogType {
  readonly key: string
  readonly name: string
  /** Returns the newest lines after a position, oldest first; null: the log has no lines that are added. */
  readonly readLines: ((sql: Sql, stationId: number, after: number) => Promise<readonly Line[]>) | null
}

/** SQL: a time as in logs. */
const timeFormat = 'YYYY-MM-DD"T"HH24:MI:SS"Z"'

const changes: LogType = {
  key: 'changes',
  name: 'Changes by operators',
  readLines: (sql, stationId, after) => sql<Line[]>`
    select id, to_char(at at time zone 'UTC', ${timeFormat}) || ' ' || key_name || ': ' || method || ' ' || path
      || case when fields = '[]' then '' else ' ' || (
        select string_agg(name, ', ') from jsonb_array_elements_text(fields) name) end as line
    from (
      select * from audit_log where station_id = ${stationId} and id > ${after}::bigint
      order by id desc limit ${maxLines}) newest
    order by id`
}

const broadcasts: LogType = {
  key: 'broadcasts',
  name: 'Live broadcasts',
  readLines: (sql, stationId, after) => sql<Line[]>`
    select id, to_char(to_timestamp(started_at_ms / 1000) at time zone 'UTC', ${timeFormat}) || ' ' || username
      || case when ended_at_ms is null then ': live'
        else ': live until ' || to_char(to_timestamp(ended_at_ms / 1000) at time zone 'UTC', ${timeFormat}) end as line
    from (
      select * from broadcasts where station_id between ${stationId} and ${stationId} and id > ${after}::bigint
      order by station_id desc, id desc limit ${maxLines}) newest
    order by id`
}

const webhooks: LogType = {
  key: 'webhooks',
  name: 'Deliveries of web hooks',
  // Responses and URLs may contain secrets: the delivery log of a web hook shows them redacted.
  readLines: (sql, stationId, after) =>
    sql<Line[]>`
    select a.id, to_char(to_timestamp(a.started_at_ms / 1000) at time zone 'UTC', ${timeFormat}) || ' web hook '
      || d.webhook_id || ', delivery ' || d.id || ', attempt ' || a.attempt || ': '
      || case when a.error = '' then 'delivered' else a.error end || ', status ' || a.status || ', '
      || a.duration_ms || ' ms' as line
    from (
      select * from webhooks where station_id = ${stationId}) w
      cross join lateral (
        select * from webhook_deliveries where webhook_id = w.id order by id desc limit ${maxLines}) d
      join webhook_attempts a on a.delivery_id = d.id
    where a.id > ${after}::bigint order by a.id desc limit ${maxLines}`.then(lines => lines.toReversed())
}

const script: LogType = { key: 'liquidsoap', name: 'Liquidsoap script', readLines: null }

/** The logs of a station that the caller may see. */
async function listLogs(request: ApiRequest, { reads: sql }: ApiServices): Promise<readonly LogType[]> {
  const { id: stationId } = getRequestStation(request)
  const [station] = await sql<{ isLiquidsoap: boolean }[]>`
    select backend = 'liquidsoap' as "isLiquidsoap" from stations where id = ${stationId}`
  if (!station) throw new ApiError('not-found')
  const key = request.caller?.key
  const seesHooks =
    key && hasPermission(key, { permission: 'manage station web hooks', stationId, isRead: true })
  return [changes, broadcasts, ...(seesHooks ? [webhooks] : []), ...(station.isLiquidsoap ? [script] : [])]
}

const list = apiRoute('GET', `${path}/logs`, access, {
  id: 'listStationLogs',
  tag,
  summary: 'The logs of the station',
  response: arrayOf(logTypeSchema),
  async handle(request, services) {
    const logs = await listLogs(request, services)
    const base = `${services.config.BASE_URL}/api/station/${getRequestStation(request).id}/log`
    return jsonReply(
      logs.map(({ key, name, readLines }) => ({
        key,
        name,
        path: readLines === null ? `${key}.liq` : `${key}.log`,
        tail: readLines !== null,
        links: { self: `${base}/${key}` }
      }))
    )
  }
})

const read = apiRoute('GET', `${path}/log/:key`, access, {
  id: 'getStationLog',
  tag,
  summary: `A log of the station: its newest lines, at most ${maxLines}`,
  query: {
    position: {
      type: 'integer',
      minimum: 0,
      description: 'Only lines after this position of an earlier response.'
    }
  },
  response: logContentsSchema,
  async handle(request, services) {
    const logs = await listLogs(request, services)
    const log = logs.find(({ key }) => key === request.params['key'])
    if (!log) throw new ApiError('not-found')
    const { id: stationId } = getRequestStation(request)
    if (log.readLines === null)
      return jsonReply({
        contents: await renderStationScript(services, stationId),
        eof: true,
        position: null
      })
    const after = parseQueryInteger(request.query, 'position', { least: 0, most: 9_999_999_999, fallback: 0 })
    const lines = await log.readLines(services.reads, stationId, after)
    const contents = lines.map(({ line }) => line).join('\n')
    return jsonReply({ contents, eof: false, position: lines.at(-1)?.id ?? after })
  }
})

export const stationLogRoutes = [list, read]
