import type { LimitFunction } from 'p-limit'

import { type NewAlert, raiseAlert, resolveAlert } from '../../db/notifications.ts'
import { sealingPurpose } from '../../fields/column.ts'
import { FetchFault } from '../../outbound/guarded-fetch.ts'
import { changeStation } from '../../playout/change-station.ts'
import { countAtSources } from '../../playout/listeners/count-listeners.ts'
import { observeStream } from '../../playout/plays/observe-stream.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import type { Secrets } from '../../security/secrets.ts'
import { AnswerFault } from '../loose-json.ts'
import type { Answered, AskServer } from '../server-answers.ts'
import type { Stream } from '../stream.ts'
import type { StreamingServer } from '../streaming-server.ts'
import { type Findings, findingsOf, meantStreams, noFindings } from './poll-findings.ts'
import { type ClaimedPoll, isClaimed, pollFact, type PollResult } from './poll-rows.ts'

/** What a poll works with. */
export interface PollParts extends PlayoutServices {
  readonly secrets: Pick<Secrets, 'open'>
  readonly askStation: AskServer
  readonly askRemote: AskServer
  /** Of what polls found, so much is written at once. */
  readonly writing: LimitFunction
}

/** For all questions of a poll together. */
const deadlineMs = 5_000

/**
 * Asks a server and writes down what it says. Gives when it is asked again and how it went; null where it is
 * asked no more. Rejects once `signal` is aborted, or where a store is away: then the claim runs out. `clock`
 * gives Unix milliseconds.
 */
export async function runPoll(
  parts: PollParts,
  poll: ClaimedPoll,
  clock: () => number,
  signal: AbortSignal
): Promise<PollResult | null> {
  const startedAtMs = clock()
  if (poll.kind === null) return endPoll(parts, poll, startedAtMs)
  const answered = await ask(parts, poll, poll.kind, { nowMs: startedAtMs, signal })
  signal.throwIfAborted()
  if ('fault' in answered) return noteFailure(parts, poll, answered.fault, { startedAtMs, nowMs: clock() })
  const found = findingsOf(poll, answered.streams)
  const nowMs = clock()
  await parts.writing(() => tell(parts, poll, found, nowMs))
  if (poll.failingSinceMs !== null) {
    await resolveAlert(parts.sql, pollFact(poll.id))
    parts.log.info({ station: poll.stationId, remote: poll.remoteId }, 'streaming server answers again')
  }
  const isBusy = found.total > 0 || (poll.isHeard && (poll.isReported || poll.isLive))
  return {
    poll,
    ...afterAnswer(startedAtMs, { isBusy, idleSinceMs: poll.idleSinceMs }, Math.random()),
    answeredAtMs: nowMs,
    failingSinceMs: null,
    failures: 0,
    problem: answered.problem
  }
}

/** Gives a sentence as `fault` where there is no answer that can be used. */
async function ask(
  parts: PollParts,
  poll: ClaimedPoll,
  kind: StreamingServer['kind'],
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal }
): Promise<Answered | { fault: string }> {
  // Node 20 keeps something of each `AbortSignal.any` for as long as the process runs.
  const ending = new AbortController()
  const stop = () => ending.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => ending.abort(new FetchFault('timeout')), deadlineMs)
  const askServer = poll.remoteId === null ? parts.askStation : parts.askRemote
  const meant = (streams: readonly Stream[]) => meantStreams(poll, streams)
  try {
    const place = { kind, ...placeOf(poll, parts.secrets) }
    return await askServer(place, meant, { nowMs, signal: ending.signal })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AnswerFault || error instanceof FetchFault) return { fault: error.message }
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** A remote's address is where listeners find it; the pages of its server are at the root. */
function placeOf({ remoteId, url, password }: ClaimedPoll, secrets: PollParts['secrets']) {
  if (remoteId === null)
    return { url, password: opened(secrets, password, sealingPurpose('stations', 'frontend_admin_password')) }
  const { origin } = new URL(url)
  return { url: origin, password: opened(secrets, password, sealingPurpose('remotes', 'admin_password')) }
}

function opened(secrets: PollParts['secrets'], sealed: string, purpose: string): string {
  try {
    return sealed === '' ? '' : secrets.open(sealed, purpose)
  } catch {
    throw new AnswerFault('Its password cannot be opened any more: it must be entered again.')
  }
}

/** Writes down what was found, unless the server is to be asked anew since: then it is old. */
async function tell(parts: PollParts, poll: ClaimedPoll, found: Findings, atMs: number): Promise<void> {
  if (!(await isClaimed(parts.sql, poll))) return
  const { stationId, remoteId } = poll
  await countAtSources(parts, stationId, found.report)
  if (found.seen) {
    const { isConnected, artist, title } = found.seen
    await observeStream(parts, stationId, { isConnected, artist, title, atMs })
  }
  const { sound } = found
  if (remoteId === null || !sound) return
  const isNews = (poll.bitrate === 0 && sound.bitrate > 0) || (poll.format === '' && sound.format !== '')
  if (isNews) await learnSound(parts, { stationId, remoteId }, sound)
}

async function noteFailure(
  parts: PollParts,
  poll: ClaimedPoll,
  problem: string,
  { startedAtMs, nowMs }: { readonly startedAtMs: number; readonly nowMs: number }
): Promise<PollResult> {
  const sinceMs = poll.failingSinceMs ?? startedAtMs
  const failures = poll.failures + 1
  if (problem !== poll.problem)
    parts.log.warn(
      { station: poll.stationId, remote: poll.remoteId, problem },
      'streaming server does not answer'
    )
  if (nowMs - sinceMs >= alertAfterMs) await raiseAlert(parts.sql, notificationOf(poll, problem))
  if (nowMs - sinceMs >= trustMs) await parts.writing(() => tell(parts, poll, lost(poll), nowMs))
  return {
    poll,
    dueAtMs: afterFailure(startedAtMs, failures, Math.random()),
    answeredAtMs: null,
    failingSinceMs: sinceMs,
    failures,
    idleSinceMs: poll.idleSinceMs,
    problem
  }
}

/** A server that cannot be asked says nothing of whether a streamer is live. */
function lost(poll: ClaimedPoll): Findings {
  const found = noFindings(poll)
  return poll.isReported ? found : { ...found, seen: null }
}

const notificationOf = ({ id, station, name }: ClaimedPoll, problem: string): NewAlert => ({
  fact: pollFact(id),
  title: `A streaming server does not answer: ${station}${name === '' ? '' : `, ${name}`}`,
  body:
    `For five minutes the server has not been heard of. ${problem} ` +
    'Its listeners count as before for ten minutes, then as none.',
  type: 'warning',
  source: 'broadcast'
})

/** Nobody listens to what is not asked any more. */
async function endPoll(parts: PollParts, poll: ClaimedPoll, nowMs: number): Promise<null> {
  await parts.writing(() => tell(parts, poll, lost(poll), nowMs))
  const { count } = await parts.sql`
    delete from polls where id = ${poll.id} and due_at_ms = ${poll.claimedUntilMs}`
  if (count > 0) await resolveAlert(parts.sql, pollFact(poll.id))
  return null
}

/** Writes down how a remote sounds where nobody has said it yet, and shows it. What was said stays. */
async function learnSound(
  services: PlayoutServices,
  remote: { readonly stationId: number; readonly remoteId: number },
  { bitrate, format }: Pick<Stream, 'bitrate' | 'format'>
): Promise<void> {
  await changeStation(services, remote.stationId, async ({ tx, mark }) => {
    const { count } = await tx`
      update remotes set bitrate = case bitrate when 0 then ${bitrate} else bitrate end,
        format = case format when '' then ${format} else format end
      where id = ${remote.remoteId} and ((bitrate = 0 and ${bitrate} > 0) or (format = '' and ${format} <> ''))`
    if (count > 0) mark(['station'])
  })
}

const second = 1_000
const minute = 60 * second

/**
 * How often a server is asked while something goes on there; while nothing does; and after minutes of
 * nothing.
 */
const busyPeriodMs = 5 * second
const idlePeriodMs = 15 * second
const restPeriodMs = 30 * second
const restAfterMs = 5 * minute
/** The longest pause after failures. */
const longestPauseMs = minute

/** From then on operators are told that a server does not answer. */
const alertAfterMs = 5 * minute
/** For so long the last good answer is taken to be true still. */
const trustMs = 10 * minute

/**
 * When a server is asked again that answered, and since when nobody listens there; `chance` is from 0 to 1.
 */
export function afterAnswer(
  startedAtMs: number,
  { isBusy, idleSinceMs }: { readonly isBusy: boolean; readonly idleSinceMs: number | null },
  chance: number
): { dueAtMs: number; idleSinceMs: number | null } {
  if (isBusy) return { dueAtMs: startedAtMs + jittered(busyPeriodMs, chance), idleSinceMs: null }
  const sinceMs = idleSinceMs ?? startedAtMs
  const periodMs = startedAtMs - sinceMs < restAfterMs ? idlePeriodMs : restPeriodMs
  return { dueAtMs: startedAtMs + jittered(periodMs, chance), idleSinceMs: sinceMs }
}

/** When a server is asked again that has failed so many times in a row. */
export function afterFailure(startedAtMs: number, failures: number, chance: number): number {
  const pauseMs = Math.min(longestPauseMs, busyPeriodMs * 2 ** (failures - 1))
  return startedAtMs + jittered(pauseMs, chance)
}

const jittered = (ms: number, chance: number) => Math.round(ms * (0.9 + chance * 0.2))
