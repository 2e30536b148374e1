import { setTimeout as sleep } from 'node:timers/promises'

import type { Redis } from 'ioredis'

import type { Sql } from '../../src/stores/db/sql.ts'
import { stationKey } from '../../src/stores/redis/keys.ts'
import { parsePosition } from '../../src/stores/redis/state-schema.ts'
import { askPlainly } from '../support/plain-http.ts'
import { askServers } from './ask-servers.ts'
import { publicUrl } from './cuewire-process.ts'
import { contentOf, readExpectedDocuments } from './document.ts'
import type { Follower } from './followers.ts'
import type { Journal } from './journal.ts'
import { type DeliveryRow, judgeDeliveries, type ReceivedRequest } from './judge-deliveries.ts'
import { type HistoryPlay, judgeHistory } from './judge-history.ts'
import { describeDifference, type PositionJudge } from './judge-positions.ts'
import { judgeRotation, type RotationPlay } from './judge-rotation.ts'
import type { Operators } from './operators.ts'
import type { PlayoutScript } from './playout-script.ts'
import type { TimeSpan, Violation } from './violation.ts'

/** A station with a web hook. */
export interface HookedStation {
  readonly stationId: number
  readonly hookId: number
  /** The first play that the hook must announce. */
  readonly sinceShId: number
  readonly requests: () => readonly ReceivedRequest[]
}

/** A time span in which a fault may delay plays. */
export interface DisturbedSpan extends TimeSpan {
  /** Whether the clock of Postgres jumped in it. */
  readonly isJump: boolean
  /** The only station whose plays it may delay; null: all. */
  readonly stationId: number | null
}

/** Dependencies of the checks. */
export interface Checked {
  readonly sql: Sql
  readonly redis: Redis
  readonly journal: Journal
  readonly positions: PositionJudge
  readonly followers: readonly Follower[]
  readonly operators: Operators
  readonly playout: PlayoutScript
  /** Stations with the backend `clock`. */
  readonly clocked: readonly number[]
  readonly hooked: readonly HookedStation[]
  /**
   * The time at which each delivery was first found due, by message, on the monotonic clock of the checker.
   */
  readonly dueSinceMs: Map<string, number>
  /** Base URLs of servers that must respond. */
  readonly servers: () => readonly string[]
  readonly disturbed: () => readonly DisturbedSpan[]
}

/** The interval between two comparisons. */
const compareIntervalMs = 100
/** The extra time for clients, which reconnect with a backoff. */
const clientsMs = 4_000
const requestMs = 3_000

/**
 * Edits every station once, each through another server than the previous one. Then waits until all servers
 * and clients have what Postgres contains for every station, including this edit. Returns the differences at
 * the deadline. `number` distinguishes edits.
 */
export async function checkConvergence(
  checked: Checked,
  deadlineMs: number,
  number: number
): Promise<Violation[]> {
  const { clocked, playout, journal, positions, followers } = checked
  const startedAtMs = performance.now()
  const elapsedMs = () => performance.now() - startedAtMs
  const stations = [...clocked, playout.stationId]
  const refused = await editStations(checked, stations, number, deadlineMs)
  if (refused.length > 0) return refused
  /** The positions of stations when all servers agreed. */
  const agreed = new Map<number, { epoch: string; offset: number }>()
  let why = new Map<number, string>()
  for (;;) {
    const left = stations.filter(id => !agreed.has(id))
    if (left.length === 0) break
    try {
      why = await compare(checked, left, agreed)
    } catch (error) {
      why = new Map(left.map(id => [id, `cannot be compared: ${String(error)}`]))
    }
    if (elapsedMs() > deadlineMs && agreed.size < stations.length)
      return [...why].map(([stationId, detail]) => ({
        rule: `servers show what Postgres contains within ${deadlineMs / 1000} s`,
        stationId,
        detail
      }))
    await sleep(compareIntervalMs)
  }
  journal.measure('servers agree with Postgres, ms', elapsedMs())

  const isBehind = ({ name, stationId, isConnected }: Follower) => {
    const newest = agreed.get(stationId)
    const seen = positions.positionOf(name, stationId)
    if (newest === undefined || !isConnected()) return true
    return seen?.epoch !== newest.epoch || seen.offset < newest.offset
  }
  const clientsDeadlineMs = Math.max(deadlineMs, elapsedMs()) + clientsMs
  let behind = followers.filter(isBehind)
  while (behind.length > 0 && elapsedMs() < clientsDeadlineMs) {
    await sleep(compareIntervalMs)
    behind = behind.filter(isBehind)
  }
  journal.measure('clients agree as well, ms', elapsedMs())
  return behind.map(({ name, stationId }) => ({
    rule: 'clients converge',
    stationId,
    detail: `${name} has ${JSON.stringify(positions.positionOf(name, stationId))}, newest is ${JSON.stringify(agreed.get(stationId))}`
  }))
}

/** Edits stations with retries. Returns a violation for each edit that is not accepted in time. */
async function editStations(
  { servers, journal }: Checked,
  stations: readonly number[],
  number: number,
  deadlineMs: number
): Promise<Violation[]> {
  const deadline = performance.now() + deadlineMs
  const urls = servers()
  const edit = async (stationId: number, index: number): Promise<Violation[]> => {
    const ask = askServers(urls.slice((index + number) % urls.length).slice(0, 1), requestMs)
    for (;;) {
      const status = await ask('PUT', `/api/admin/station/${stationId}`, {
        body: { url: `https://edit.test/${number}` }
      }).then(
        response => response.status,
        () => 0
      )
      if (status === 200) return []
      journal.note(stationId, `edit ${number} -> ${status}`)
      if (performance.now() > deadline) {
        const rule = `writes are accepted again within ${deadlineMs / 1000} s`
        return [{ rule, stationId, detail: `the last answer was ${status}` }]
      }
      await sleep(compareIntervalMs)
    }
  }
  return (await Promise.all(stations.map(edit))).flat()
}

/** Compares stations and adds those that agree to `agreed`. Returns the differences of the others. */
async function compare(
  { sql, redis, servers, journal, positions }: Checked,
  stations: readonly number[],
  agreed: Map<number, { epoch: string; offset: number }>
): Promise<Map<number, string>> {
  const differing = new Map<number, string>()
  const urls = servers()
  const shown = await Promise.all(
    stations.map(async id => Promise.all(urls.map(async url => readShown(url, id))))
  )
  // Redis as well: servers keep their state after Redis has lost everything.
  const stored = await Promise.all(stations.map(async id => redis.hget(stationKey(id), 'position')))
  // Read last, so that servers can only show older states.
  const expectedById = new Map(
    (await readExpectedDocuments(sql, stations, publicUrl)).map(expected => [expected.stationId, expected])
  )
  for (const [index, id] of stations.entries()) {
    const expected = expectedById.get(id)
    const faults = (shown[index] ?? []).flatMap(({ url, epoch, content, status }) => {
      if (status !== 200) return [`${url} answers ${status}`]
      if (epoch !== expected?.epoch)
        return [`${url} shows epoch ${epoch}, Postgres contains ${expected?.epoch}`]
      return content === expected.content
        ? []
        : [`${url} and Postgres differ: ${describeDifference(content, expected.content)}`]
    })
    const offsets = (shown[index] ?? []).map(({ offset }) => offset)
    if (faults.length === 0 && new Set(offsets).size > 1)
      faults.push(`servers show offsets ${offsets.join(' and ')}`)
    const { epoch, offset } = parsePosition(stored[index] ?? '')
    if (epoch !== expected?.epoch || !offsets.includes(offset))
      faults.push(
        `Redis contains ${stored[index] ?? 'nothing'}, servers show offsets ${offsets.join(' and ')}`
      )
    journal.count('documents compared with Postgres', offsets.length)
    if (faults.length > 0) differing.set(id, faults.join('; '))
    else {
      agreed.set(id, { epoch, offset })
      positions.retireOthers(id, epoch)
    }
  }
  return differing
}

async function readShown(url: string, stationId: number) {
  const { status, headers, body } = await askPlainly(`${url}/api/nowplaying/${stationId}`, {
    signal: AbortSignal.timeout(requestMs)
  })
  return {
    url,
    status,
    epoch: String(headers['x-cuewire-epoch']),
    offset: Number(headers['x-cuewire-offset']),
    content: status === 200 ? contentOf(JSON.parse(body.toString())) : ''
  }
}

/** Checks the current histories of all stations. */
export async function checkHistories({
  sql,
  clocked,
  playout,
  operators,
  disturbed
}: Checked): Promise<Violation[]> {
  const allSpans = disturbed()
  // Reports and skips that are accepted after the snapshot are not in it.
  const reported = [...playout.accepted]
  const skipsAccepted = new Set(operators.skipsAccepted)
  return sql.begin('isolation level repeatable read', async tx => {
    const found: Violation[] = []
    for (const stationId of [...clocked, playout.stationId]) {
      const spans = allSpans.filter(span => span.stationId === null || span.stationId === stationId)
      const plays = await tx<HistoryPlay[]>`
        select id, started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs", due_at_ms as "dueAtMs"
        from song_history where station_id = ${stationId} order by id`
      const backend = stationId === playout.stationId ? 'liquidsoap' : 'clock'
      const context = {
        stationId,
        nowMs: Date.now(),
        disturbed: spans,
        jumps: spans.filter(({ isJump }) => isJump),
        skipped: operators.skipped
      }
      found.push(...judgeHistory(plays, { ...context, backend }))
      const rotated = await tx<RotationPlay[]>`
        select h.id, h.playlist_id as "playlistId", h.track_id as "trackId", h.pass
        from song_history h join playlists p on p.id = h.playlist_id and p."order" <> 'random'
        where h.station_id = ${stationId} and h.track_id is not null order by h.id`
      found.push(...judgeRotation(stationId, rotated))
      const ended = new Set(plays.filter(({ endedAtMs }) => endedAtMs !== null).map(({ id }) => id))
      for (const { id } of plays)
        if (backend === 'clock' && skipsAccepted.has(id) && !ended.has(id))
          found.push({
            rule: 'an accepted write is stored',
            stationId,
            detail: `play ${id} was skipped and has not ended`
          })
      const repeated = await tx<{ id: number }[]>`
        select history_id as id from queue where station_id = ${stationId} and history_id is not null
        group by history_id having count(*) > 1`
      for (const { id } of repeated)
        found.push({
          rule: 'one history row per track',
          stationId,
          detail: `play ${id} belongs to several queue rows`
        })
    }
    const lost = await tx<{ id: number }[]>`
      select r.id from unnest(${reported}::bigint[]) r (id)
      where not exists (
        select from queue q join song_history h on h.id = q.history_id where q.id = r.id)`
    for (const { id } of lost)
      found.push({
        rule: 'one history row per track',
        stationId: playout.stationId,
        detail: `the report of queue row ${id} was accepted and has no play`
      })
    return found
  })
}

/**
 * Counts are flushed every second by the process that holds the lease of the shard. If it dies, another one
 * takes over.
 */
const flushMs = 5_000

/**
 * Compares reports of listeners with the flushed counts and with what all servers show, and the counts of all
 * plays with each other.
 */
export async function checkCounts({ sql, operators, servers }: Checked): Promise<Violation[]> {
  let found: Violation[] = []
  for (const deadline = performance.now() + flushMs; ; await sleep(100)) {
    found = []
    const stations = await sql<{ id: number; total: number; shown: number | null }[]>`
      select s.id, s.listeners_total as total, h.listeners_end as shown
      from stations s left join song_history h on h.station_id = s.id and h.ended_at_ms is null`
    const stored = new Map(stations.map(row => [row.id, row]))
    for (const register of operators.listeners)
      found.push(...register.judge(String(stored.get(register.stationId)?.total)))
    for (const { id, total, shown } of stations)
      if (shown !== null && shown !== total)
        found.push({
          rule: 'the current play has the count of its station',
          stationId: id,
          detail: `the play has ${shown}, the station ${total}`
        })
    for (const url of servers()) {
      const { body } = await askServers([url], requestMs)('GET', '/api/nowplaying')
      for (const { station, listeners } of body)
        if (listeners.total !== stored.get(station.id)?.total)
          found.push({
            rule: 'servers show the flushed counts',
            stationId: station.id,
            detail: `${url} shows ${listeners.total}, Postgres has ${stored.get(station.id)?.total}`
          })
    }
    if (found.length === 0 || performance.now() > deadline) break
  }
  const plays = await sql<{ stationId: number; id: number; detail: string }[]>`
    select station_id as "stationId", id, format('play %s: from %s to %s with %s gained and %s lost', id, listeners_start,
      listeners_end, delta_positive, delta_negative) as detail
    from song_history where listeners_end - listeners_start <> delta_positive - delta_negative`
  const rule = 'end minus start is gained minus lost'
  return [...found, ...plays.map(({ stationId, detail }) => ({ rule, stationId, detail }))]
}

/** Compares the writes of operators with the stored records while no write is in flight. */
export async function checkWrites({ sql, operators }: Checked): Promise<Violation[]> {
  const { descriptions, playlists, queueRows } = operators
  const found: Violation[] = []
  const stations = await sql<{ id: number; description: string }[]>`select id, description from stations`
  const stored = new Map(stations.map(row => [row.id, row]))
  for (const register of descriptions)
    found.push(...register.judge(stored.get(register.stationId)?.description ?? ''))
  for (const records of playlists) {
    const rows = await sql<{ name: string }[]>`
      select name from playlists where station_id = ${records.stationId}`
    found.push(...records.judge(rows.map(({ name }) => name)))
  }
  for (const records of queueRows) {
    const rows = await sql<{ id: number; isLive: boolean }[]>`
      select id, played_at_ms is null and skipped_at_ms is null as "isLive"
      from queue where station_id = ${records.stationId}`
    const live = rows.filter(({ isLive }) => isLive)
    const keysOf = (some: readonly { id: number }[]) => some.map(({ id }) => String(id))
    found.push(...records.judge(keysOf(rows), keysOf(live)))
  }
  return found
}

/** The time after which a due delivery is overdue. */
const deliveryMs = 20_000

/** Checks what web hooks received. */
export async function checkDeliveries({ sql, hooked, playout, dueSinceMs }: Checked): Promise<Violation[]> {
  const found: Violation[] = []
  for (const { stationId, hookId, sinceShId, requests } of hooked) {
    // In one snapshot: a play may start between the two.
    const [shIds, rows] = await sql.begin(
      'isolation level repeatable read',
      async tx =>
        [
          await tx<{ id: number }[]>`
        select id from song_history where station_id = ${stationId} and id > ${sinceShId} and is_visible order by id`,
          await tx<(Omit<DeliveryRow, 'isOverdue'> & { isDue: boolean })[]>`
        select d.webhook_id as "hookId", d.message_id as "messageId", e.fact, d.state,
          d.state = 'pending' and d.next_attempt_ms < ${Date.now()} as "isDue"
        from webhook_deliveries d join webhook_events e on e.id = d.event_id where d.webhook_id = ${hookId}`
        ] as const
    )
    const judged = rows.map(({ isDue, ...row }): DeliveryRow => {
      if (!isDue) dueSinceMs.delete(row.messageId)
      else if (!dueSinceMs.has(row.messageId)) dueSinceMs.set(row.messageId, performance.now())
      const sinceMs = dueSinceMs.get(row.messageId)
      return { ...row, isOverdue: sinceMs !== undefined && performance.now() - sinceMs > deliveryMs }
    })
    const isReported = stationId === playout.stationId
    found.push(
      ...judgeDeliveries(requests(), judged, {
        stationId,
        hookId,
        // A play that was reported late was never the newest one, so it raised no trigger.
        shIds: isReported ? [] : shIds.map(({ id }) => id),
        mayReplacePlays: isReported
      })
    )
  }
  return found
}
