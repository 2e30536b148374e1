import { writeStreamingServerEvent } from '../../engine/status-events.ts'
import { FetchFault } from '../../platform/outbound/guarded-fetch.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { beginForStation } from '../../stores/db/begin-for-station.ts'
import { formatUtcMinute, type NewAlert, raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { StreamingServerError } from '../server-stream.ts'
import type { FetchedStreams, FetchStreams, StreamingServer } from '../streaming-servers.ts'
import { interpretPolledStreams } from './poll-findings.ts'
import { type LeasedPoll, pollAlertKey, type PollResult } from './poll-rows.ts'
import { fetchFromServer } from './poll-servers.ts'
import { type StoreFindingsDeps, storePollFindings } from './store-findings.ts'

export interface PollDeps extends StoreFindingsDeps {
  readonly secrets: Pick<Secrets, 'open'>
  readonly fetchFromStation: FetchStreams
  readonly fetchFromRemote: FetchStreams
}

/** For all requests of a poll together. */
const timeoutMs = 5_000

/**
 * Polls a server and stores what it reports. Returns the result, or null if the poll was deleted because its
 * server is no longer polled. Rejects if `signal` is aborted or a store is away: the lease then expires.
 * `clock` returns Unix milliseconds.
 */
export async function runPoll(
  deps: PollDeps,
  poll: LeasedPoll,
  clock: () => number,
  signal: AbortSignal
): Promise<PollResult | null> {
  const startedAtMs = clock()
  if (poll.kind === null) return deletePoll(deps, poll, startedAtMs)
  const fetched = await fetchStreams(deps, poll, poll.kind, { nowMs: startedAtMs, signal })
  signal.throwIfAborted()
  if ('fault' in fetched) return handleFailure(deps, poll, fetched.fault, { startedAtMs, nowMs: clock() })
  const findings = interpretPolledStreams(poll, fetched.streams)
  const nowMs = clock()
  await storePollFindings(deps, poll, findings, { atMs: nowMs })
  if (poll.failingSinceMs !== null) {
    await resolveAbsence(deps, poll, nowMs)
    deps.log.info({ station: poll.stationId, remote: poll.remoteId }, 'streaming server responds again')
  }
  const isBusy = findings.total > 0 || (poll.isMainSource && (poll.hasNoBackend || poll.isLive))
  return {
    ...poll,
    ...schedulePollAfterSuccess(startedAtMs, { isBusy, idleSinceMs: poll.idleSinceMs }, Math.random()),
    answeredAtMs: nowMs,
    failingSinceMs: null,
    failures: 0,
    problem: fetched.problem
  }
}

/** Returns a sentence as `fault` if there is no usable response. */
async function fetchStreams(
  deps: PollDeps,
  poll: LeasedPoll,
  kind: StreamingServer['kind'],
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal }
): Promise<FetchedStreams | { fault: string }> {
  const fetchFrom = poll.remoteId === null ? deps.fetchFromStation : deps.fetchFromRemote
  try {
    const run = (limit: AbortSignal) =>
      fetchFromServer(poll, deps.secrets, (server, select) =>
        fetchFrom({ kind, ...server }, select, { nowMs, signal: limit })
      )
    return await withAbortTimeout(signal, timeoutMs, run, () => new FetchFault('timeout'))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StreamingServerError || error instanceof FetchFault) return { fault: error.message }
    throw error
  }
}

async function handleFailure(
  deps: PollDeps,
  poll: LeasedPoll,
  problem: string,
  { startedAtMs, nowMs }: { readonly startedAtMs: number; readonly nowMs: number }
): Promise<PollResult> {
  const sinceMs = poll.failingSinceMs ?? startedAtMs
  const failures = poll.failures + 1
  if (problem !== poll.problem)
    deps.log.warn({ station: poll.stationId, remote: poll.remoteId, problem }, 'streaming server poll failed')
  if (nowMs - sinceMs >= alertAfterMs) await reportAbsence(deps, poll, problem, { sinceMs, nowMs })
  if (nowMs - sinceMs >= countsTtlMs) await storeAbsence(deps, poll, nowMs)
  const dueAtMs = pollRetryAtMs(startedAtMs, failures, Math.random())
  return { ...poll, dueAtMs, answeredAtMs: null, failingSinceMs: sinceMs, failures, problem }
}

/**
 * Stores that a server has no listeners. Without a response, a broadcast is not known to have ended. Sessions end with
 * the last response: those of listeners who are still connected later continue there.
 */
function storeAbsence(deps: PollDeps, poll: LeasedPoll, atMs: number): Promise<void> {
  const findings = interpretPolledStreams(poll, [])
  const observed = poll.hasNoBackend ? findings.observed : null
  return storePollFindings(
    deps,
    poll,
    { ...findings, observed },
    { atMs, sessionsEndMs: poll.lastAnsweredAtMs }
  )
}

/**
 * Raises the alert of a server that does not respond. A station without its own server has no listeners, so its web
 * hooks get `station_offline`, although what it plays is known.
 */
async function reportAbsence(
  { sql, outbox }: PollDeps,
  poll: LeasedPoll,
  problem: string,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number }
): Promise<void> {
  await beginForStation(sql, poll.stationId, async tx => {
    // The settings of the server may have changed while this poll was in flight.
    const [leased] =
      await tx`select from polls where id = ${poll.id} and due_at_ms = ${poll.leasedUntilMs} for update`
    if (!leased || !(await raiseAlert(tx, composeAlert(poll, problem, sinceMs)))) return
    if (poll.remoteId === null)
      await writeStreamingServerEvent(
        tx,
        poll.stationId,
        { trigger: 'station_offline', sinceMs, nowMs },
        outbox
      )
  })
}

/** Resolves the alert, and enqueues the web hook event that the station is back. */
async function resolveAbsence({ sql, outbox }: PollDeps, poll: LeasedPoll, nowMs: number): Promise<void> {
  await beginForStation(sql, poll.stationId, async tx => {
    const wasRaised = await resolveAlert(tx, pollAlertKey(poll.id))
    if (!wasRaised || poll.remoteId !== null) return
    const sinceMs = poll.failingSinceMs ?? nowMs
    await writeStreamingServerEvent(tx, poll.stationId, { trigger: 'station_online', sinceMs, nowMs }, outbox)
  })
}

const composeAlert = ({ id, station, name }: LeasedPoll, problem: string, sinceMs: number): NewAlert => ({
  key: pollAlertKey(id),
  title: `A streaming server does not respond: ${station}${name === '' ? '' : `, ${name}`}`,
  body:
    `The server has not responded since ${formatUtcMinute(sinceMs)}. ${problem} ` +
    'Its last listener counts are shown for a minute, and are then 0.',
  type: name === '' ? 'danger' : 'warning',
  source: 'broadcast'
})

async function deletePoll(deps: PollDeps, poll: LeasedPoll, nowMs: number): Promise<null> {
  await storeAbsence(deps, poll, nowMs)
  const { count } = await deps.sql`
    delete from polls where id = ${poll.id} and due_at_ms = ${poll.leasedUntilMs}`
  if (count > 0) await resolveAlert(deps.sql, pollAlertKey(poll.id))
  return null
}

const minuteMs = 60_000
/** With listeners or a broadcast; without; and after five minutes without. */
const busyPeriodMs = 5_000
const idlePeriodMs = 10_000
const restPeriodMs = 15_000
const restAfterMs = 5 * minuteMs
/** A server that is back is noticed, and its alert resolved, within 30 seconds. */
const maxBackoffMs = 22_000
/** A server may be busy: the first failures are not spread out. */
const failuresBeforeBackoff = 3

/** Three polls that are refused, or two that time out: within 30 seconds, also of a server that is polled rarely. */
const alertAfterMs = 8_000
/** How long the counts of the last successful poll stay valid. */
const countsTtlMs = minuteMs

/** Returns when to poll again after a success, and since when the server is idle. `chance` is from 0 to 1. */
export function schedulePollAfterSuccess(
  startedAtMs: number,
  { isBusy, idleSinceMs }: { readonly isBusy: boolean; readonly idleSinceMs: number | null },
  chance: number
): { dueAtMs: number; idleSinceMs: number | null } {
  if (isBusy) return { dueAtMs: startedAtMs + addJitter(busyPeriodMs, chance), idleSinceMs: null }
  const sinceMs = idleSinceMs ?? startedAtMs
  const periodMs = startedAtMs - sinceMs < restAfterMs ? idlePeriodMs : restPeriodMs
  return { dueAtMs: startedAtMs + addJitter(periodMs, chance), idleSinceMs: sinceMs }
}

/** Returns when to poll again after this many failures in a row: exponential backoff up to 22 seconds. */
export function pollRetryAtMs(startedAtMs: number, failures: number, chance: number): number {
  const backoffMs = Math.min(maxBackoffMs, busyPeriodMs * 2 ** Math.max(0, failures - failuresBeforeBackoff))
  return startedAtMs + addJitter(backoffMs, chance)
}

const addJitter = (ms: number, chance: number) => Math.round(ms * (0.9 + chance * 0.2))
