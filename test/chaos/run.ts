import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import { askServers } from './ask-servers.ts'
import {
  checkConvergence,
  checkCounts,
  checkDeliveries,
  type Checked,
  checkHistories,
  checkWrites,
  type DisturbedSpan,
  type HookedStation
} from './checks.ts'
import { type Closers, openClosers } from './closers.ts'
import {
  findAffectedStation,
  keepsPlaysOnTime,
  mayStartEpochs,
  recoveryMsOf,
  runFault,
  stopsStores
} from './faults.ts'
import { openFollowers } from './followers.ts'
import { openHookReceiver } from './hook-receiver.ts'
import { type Journal, openJournal } from './journal.ts'
import { openPositionJudge } from './judge-positions.ts'
import { openOperators } from './operators.ts'
import { describeFault, drawFaults, type Fault, type FaultKind } from './plan.ts'
import { openPlayoutScript } from './playout-script.ts'
import { openRig, type Rig } from './rig.ts'

export interface RunOptions {
  readonly seed: number
  /** The duration in which faults are injected. */
  readonly forMs: number
  readonly kinds: readonly FaultKind[]
  /** The number of stations with the backend `clock`; each has six clients. */
  readonly stations: number
  /** Whether the run continues after a violation. */
  readonly keepsGoing: boolean
  /** Ends the run early and cleans up. */
  readonly signal: AbortSignal
  readonly report: (line: string) => void
}

/** The result of a run. */
export interface RunResult {
  readonly journal: Journal
  readonly faults: ReadonlyMap<FaultKind, number>
  readonly seconds: number
  readonly maxLoopDelayMs: number
  readonly positionsCompared: number
  readonly epochs: number
}

const settleMs = 25_000
/** The time to wait for the last deliveries. */
const lastDeliveriesMs = 10_000
const playoutSongMs = 7_000
const hourMs = 3_600_000

/** Runs the program under faults and load, and checks it after each fault and at the end. */
export async function runChaos(options: RunOptions): Promise<RunResult> {
  let current: Fault | null = null
  const journal = openJournal(() => (current === null ? 'no fault' : describeFault(current)))
  const opened = openClosers()
  try {
    return await run(
      options,
      journal,
      opened,
      fault => (current = fault),
      () => current
    )
  } finally {
    await opened[Symbol.asyncDispose]()
  }
}

async function run(
  options: RunOptions,
  journal: Journal,
  opened: Closers,
  setCurrent: (fault: Fault | null) => void,
  current: () => Fault | null
): Promise<RunResult> {
  const { seed, kinds, signal, report } = options
  const lag = monitorEventLoopDelay({ resolution: 20 })
  lag.enable()
  const rig = opened.add(
    await openRig({
      kinds,
      journal,
      mayFailToStart: () => stopsStores.has(current()?.kind ?? 'kill-server')
    })
  )
  for (const [kind, reason] of rig.impossible) report(`left out: ${kind} (${reason})`)
  const possible = kinds.filter(kind => !rig.impossible.has(kind))
  const spans: DisturbedSpan[] = []
  const load = await openLoad(options, journal, opened, rig, () => spans)
  const { checked } = load
  const isOver = () => signal.aborted || (!options.keepsGoing && journal.violations().length > 0)

  report(`ready: ${checked.clocked.length + 1} stations, ${checked.followers.length} clients`)
  journal.violate(await checkConvergence(checked, settleMs, 0))
  const counts = new Map<FaultKind, number>()
  const startedAtMs = performance.now()
  const seconds = () => (performance.now() - startedAtMs) / 1000
  let drawn = 0
  for (const fault of drawFaults(seed, possible)) {
    drawn = fault.number
    if (isOver() || performance.now() - startedAtMs > options.forMs) break
    setCurrent(fault)
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1)
    journal.note(null, describeFault(fault))
    report(`${seconds().toFixed(0).padStart(5)} s  ${describeFault(fault)}`)
    const known = journal.violations().length
    try {
      await applyFault(rig, fault, checked, spans, signal)
      journal.violate(await checkHistories(checked))
    } catch (error) {
      journal.violate([{ rule: 'the checker works', stationId: null, detail: describeError(error) }])
    }
    for (const violation of journal.violations().slice(known))
      report(`         ${violation.rule} (station ${violation.stationId}): ${violation.detail.slice(0, 300)}`)
    setCurrent(null)
  }

  if (!isOver()) {
    await checked.operators.pause()
    await sleep(lastDeliveriesMs, undefined, { signal }).catch(() => {})
    checked.operators.resume()
    journal.violate(await checkConvergence(checked, settleMs, drawn + 1))
    journal.violate(await checkHistories(checked))
    await judgeWrites(checked)
  }
  load.stop()
  lag.disable()
  return {
    journal,
    faults: counts,
    seconds: seconds(),
    maxLoopDelayMs: lag.max / 1e6,
    positionsCompared: checked.positions.compared(),
    epochs: checked.positions.epochs()
  }
}

/** Injects a fault, waits until the program has recovered, and checks the results. */
async function applyFault(
  rig: Rig,
  fault: Fault,
  checked: Checked,
  spans: DisturbedSpan[],
  signal: AbortSignal
): Promise<void> {
  const { journal } = checked
  const epochs = await readEpochs(rig)
  const affected = await findAffectedStation(rig, fault)
  const fromMs = Date.now()
  const disturbed = spansOf(fault, affected, fromMs, Infinity)
  const first = spans.push(...disturbed) - disturbed.length
  const recoveryMs = recoveryMsOf(fault.kind)
  let endedAtMs = fromMs
  try {
    journal.violate(await runFault(rig, fault, signal))
    journal.note(null, `fault ${fault.number} is over`)
    // Counts are lost with Redis, until the next report.
    if (mayStartEpochs.has(fault.kind))
      for (const register of checked.operators.listeners) register.acceptAnyValue()
    if (signal.aborted) return
    endedAtMs = Date.now()
    journal.violate(await checkConvergence(checked, recoveryMs, fault.number))
    spans.splice(first, Infinity, ...spansOf(fault, affected, fromMs, endedAtMs + recoveryMs))
  } catch (error) {
    spans.splice(first, Infinity, ...spansOf(fault, affected, fromMs, Date.now() + recoveryMs))
    throw error
  }
  if (!mayStartEpochs.has(fault.kind))
    for (const [stationId, epoch] of await readEpochs(rig))
      if (epoch !== epochs.get(stationId)) {
        const detail = `${epochs.get(stationId)}, then ${epoch}`
        journal.violate([{ rule: 'no new epoch while Redis keeps its data', stationId, detail }])
      }
  await judgeWrites(checked)
  // Plays are checked when no late report can arrive any more.
  await sleep(Math.max(0, endedAtMs + recoveryMs - Date.now()) + fault.restMs, undefined, { signal })
}

const describeError = (error: unknown) =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

async function judgeWrites(checked: Checked): Promise<void> {
  const { journal } = checked
  await checked.operators.pause()
  journal.violate(await checkWrites(checked))
  journal.violate(await checkCounts(checked))
  checked.operators.resume()
  journal.violate(await checkDeliveries(checked))
}

/**
 * The time spans in which a fault affects plays, of one station or (null) of all. If the clock of Postgres jumped, the
 * shifted spans as well.
 */
function spansOf({ kind }: Fault, stationId: number | null, fromMs: number, toMs: number): DisturbedSpan[] {
  if (keepsPlaysOnTime.has(kind)) return []
  const isJump = kind === 'postgres-clock'
  const shifts = isJump ? [0, -hourMs, hourMs] : [0]
  return shifts.map(shiftMs => ({ fromMs: fromMs + shiftMs, toMs: toMs + shiftMs, isJump, stationId }))
}

async function readEpochs({ sql }: Rig): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; epoch: string }[]>`select id, epoch from stations`
  return new Map(rows.map(({ id, epoch }) => [id, epoch]))
}

/** Creates stations and web hooks, and starts the clients, the operators and the playout. */
async function openLoad(
  { seed, stations: count, signal }: RunOptions,
  journal: Journal,
  opened: Closers,
  { sql, servers, redis: { url: redisUrl } }: Rig,
  disturbed: () => readonly DisturbedSpan[]
): Promise<{ checked: Checked; stop: () => void }> {
  const ended = new AbortController()
  opened.defer(() => ended.abort())
  const life = AbortSignal.any([signal, ended.signal])
  const baseUrls = servers.map(({ baseUrl }) => baseUrl)
  const ask = askServers(baseUrls)
  const half = Math.ceil(count / 2)
  const quick = await seedStations(sql, { stations: half, tracks: 40, songMs: 4_000 })
  const slow =
    count > half ? await seedStations(sql, { stations: count - half, tracks: 40, songMs: 9_000 }) : []
  const rotation = await seedRotation(sql)
  const clocked = [...quick, rotation, ...slow].map(({ id }) => id)
  const readyUrl = () => servers.find(each => each.isReady())?.baseUrl ?? servers[0].baseUrl
  const playout = await openPlayoutScript({
    sql,
    ask,
    baseUrl: readyUrl,
    songMs: playoutSongMs,
    journal,
    signal: life
  })
  const stationIds = [...clocked, playout.stationId]
  await waitFor(
    async () => {
      const responses = await Promise.all(
        baseUrls.flatMap(url => stationIds.map(id => askServers([url])('GET', `/api/nowplaying/${id}`)))
      )
      return responses.every(({ body }) => body.is_online === true)
    },
    { deadlineMs: settleMs, what: 'all stations to play at all servers' }
  )

  const receiver = opened.add(await openHookReceiver(seed, journal))
  const hooked: HookedStation[] = []
  for (const [index, stationId] of [clocked[0], clocked.at(-1), playout.stationId].entries()) {
    if (stationId === undefined) continue
    const name = `hook-${index}`
    const { body } = await ask('POST', `/api/station/${stationId}/webhooks`, {
      body: {
        type: 'generic',
        name,
        triggers: index === 0 ? [] : ['song_changed'],
        config: { webhook_url: receiver.urlOf(name) }
      }
    })
    const hookId = Number(body.id)
    const [newest] = await sql<{ id: number }[]>`
      select coalesce(max(id), 0) as id from song_history where station_id = ${stationId}`
    hooked.push({
      stationId,
      hookId,
      sinceShId: newest?.id ?? 0,
      requests: () => receiver.requestsOf(name, hookId)
    })
  }

  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    retryStrategy: () => 100
  })
  redis.on('error', () => {})
  opened.defer(() => redis.disconnect())
  const positions = openPositionJudge()
  const media = await sql<{ stationId: number; ids: number[] }[]>`
    select station_id as "stationId", array_agg(id::int order by id) as ids from media
    where station_id = any(${stationIds}::bigint[]) group by station_id order by station_id`
  const operators = openOperators({
    seed,
    stations: media.map(({ stationId, ids }) => ({
      id: stationId,
      mediaIds: ids,
      changing: stationId === rotation.id ? rotation.changing : null
    })),
    baseUrls,
    journal,
    signal: life
  })
  const shown = new Set<string>()
  const followers = openFollowers({
    seed,
    stationIds,
    baseUrls,
    judge: positions,
    journal,
    signal: life,
    onDocument: (stationId, document) => {
      const key = `${stationId} ${Object(document).station?.description}`
      const acceptedAtMs = operators.acceptedAtMs.get(key)
      if (acceptedAtMs === undefined || shown.has(key)) return
      shown.add(key)
      journal.measure('accepted edit to the first client, ms', performance.now() - acceptedAtMs)
    }
  })
  const checked: Checked = {
    sql,
    redis,
    journal,
    positions,
    followers,
    operators,
    playout,
    clocked,
    hooked,
    dueSinceMs: new Map(),
    servers: () => baseUrls,
    disturbed
  }
  return { checked, stop: () => ended.abort() }
}

/** A station with a short pass, whose other songs operators add to its playlist. */
async function seedRotation(sql: Rig['sql']) {
  return sql.begin(async tx => {
    const [station] = await seedStations(tx, { tracks: 10, songMs: 1_500 })
    if (!station) throw new Error('no station was made')
    const { id, playlistId } = station
    const removed = await tx<{ mediaId: number }[]>`
      delete from playlist_tracks where playlist_id = ${playlistId} and position > 4 returning media_id as "mediaId"`
    return { id, changing: { playlistId, mediaIds: removed.map(({ mediaId }) => mediaId) } }
  })
}
