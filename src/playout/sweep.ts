import type { Fragment } from '../db/sql.ts'
import { shards } from '../redis/keys.ts'
import { isOfNewerRelease, isReadable, parsePosition } from '../redis/positions.ts'
import { dropTombstone, readPositions } from '../redis/station-store.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { advance } from './advance.ts'
import { raiseRevisionBatch } from './all-stations.ts'
import { changeStation, type StationChange } from './change-station.ts'
import { sendInterrupts } from './playouts/interrupts.ts'
import { endTimedOutPlays } from './playouts/time-out.ts'
import { repairStates } from './publish.ts'
import { maxClockErrorMs } from './pull-back.ts'
import { loadMissing } from './queue/preload-libraries.ts'
import { refillQueue } from './queue/queue.ts'
import { skipLocked } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { removeDeletedStates } from './station-removal.ts'

/** A play is overdue if its job should have ended it this long ago. */
const graceMs = 700

/** Number of advances that run at once. */
const lanes = 8
const chunk = 500
const rounds = 10

/**
 * Repairs what jobs and publications have missed. `previous` contains the stations that differed in the last
 * sweep: a difference counts if it lasts, because a publication may be in flight. Call it every second, in
 * any number of processes. Rejects between two steps once `signal` is aborted.
 */
export async function sweep(services: PlayoutServices, previous: ReadonlySet<number>, signal?: AbortSignal) {
  // Facts first: plays go on while Redis is away. A station far behind takes several steps to catch up.
  for (let round = 0; round < rounds && (await endOverdue(services, signal)) > 0; round++);
  await pullBackEarly(services, signal)
  await wakeSilent(services, signal)
  await sendInterrupts(services, engineTimeMs())
  await endTimedOutPlays(services, { nowMs: engineTimeMs(), upForMs: process.uptime() * 1000 })
  const refillUntilMs = performance.now() + refillMs
  while (performance.now() < refillUntilMs && (await refillStale(services, signal)) > 0);
  for (let round = 0; round < rounds && (await raiseRevisionBatch(services.sql)).length > 0; round++);
  const differing = await findDiffering(services, previous)
  await publishLanes(services, differing.lasting)
  if (differing.faults.length > 0) throw differing.faults[0]
  return differing.fresh
}

function endOverdue(services: PlayoutServices, signal?: AbortSignal): Promise<number> {
  const overdue = services.sql`h.due_at_ms < ${engineTimeMs() - graceMs} order by h.due_at_ms`
  return advancePlays(services, overdue, signal)
}

/** Advances stations whose current play begins after now, which pulls it back to now. */
function pullBackEarly(services: PlayoutServices, signal?: AbortSignal): Promise<number> {
  return advancePlays(services, services.sql`h.started_at_ms > ${engineTimeMs() + maxClockErrorMs}`, signal)
}

/** Advances stations whose current play meets a condition, and returns how many there are. */
async function advancePlays(services: PlayoutServices, isMet: Fragment, signal?: AbortSignal) {
  const rows = await services.sql<{ stationId: number; endedShId: number }[]>`
    select h.station_id as "stationId", h.id as "endedShId"
    from song_history h join stations s on s.id = h.station_id
    where h.ended_at_ms is null and ${isMet} limit ${chunk} ${skipLocked(services.sql)}`
  await inLanes(rows, lanes, row => advance(services, { ...row, cause: 'due' }), signal)
  return rows.length
}

async function wakeSilent(services: PlayoutServices, signal?: AbortSignal): Promise<void> {
  const rows = await services.sql<{ id: number }[]>`
    select s.id from stations s left join libraries l on l.station_id = s.id
    where s.is_enabled and s.backend = 'clock'
      and not exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null)
      and (s.wake_at_ms <= ${engineTimeMs()} or s.wake_version <> coalesce(l.version, 0)
        or exists (select from queue q where q.station_id = s.id and q.played_at_ms is null and q.skipped_at_ms is null))
    limit ${chunk} ${skipLocked(services.sql)}`
  const wake = ({ id }: { id: number }) => advance(services, { stationId: id, endedShId: 0, cause: 'wake' })
  await inLanes(rows, lanes, wake, signal)
}

/** Fewer than `lanes`, because advances have priority. */
const refillLanes = 4
const refillChunk = 40
/** Stations whose libraries are loaded at once. */
const refillGroup = 5
/** Time for refills per sweep: after a restart there may be thousands, and songs must end meanwhile. */
const refillMs = 3_000

const refill = (change: StationChange) => refillQueue(change, { isLibraryChanged: false })

/** Refills the queues of stations whose library has changed, or whose song started without its library. */
async function refillStale(services: PlayoutServices, signal?: AbortSignal): Promise<number> {
  const rows = await services.sql<{ id: number }[]>`
    select s.id from stations s join libraries l on l.station_id = s.id
    where s.filled_version <> l.version and s.is_enabled and s.backend <> 'none'
    order by (select h.due_at_ms from song_history h where h.station_id = s.id and h.ended_at_ms is null), s.id
    limit ${refillChunk} ${skipLocked(services.sql)}`
  const ids = rows.map(({ id }) => id)
  await inLanes(
    inGroups(ids),
    refillLanes,
    async group => {
      await loadMissing(services, group, engineTimeMs())
      for (const id of group) await changeStation(services, id, refill)
    },
    signal
  )
  return rows.length
}

const inGroups = (ids: readonly number[]) =>
  Array.from({ length: Math.ceil(ids.length / refillGroup) }, (_, index) =>
    ids.slice(index * refillGroup, (index + 1) * refillGroup)
  )

async function inLanes<Item>(
  items: readonly Item[],
  count: number,
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal
): Promise<void> {
  const next = items.values()
  const lane = async () => {
    for (const item of next) {
      signal?.throwIfAborted()
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: count }, lane))
}

/** Finds stations whose live state differs from the facts, in spite of shards that cannot be read. */
async function findDiffering(services: PlayoutServices, previous: ReadonlySet<number>) {
  const lasting: number[] = []
  const fresh = new Set<number>()
  // Positions first: a station that has a position but no row has been deleted.
  const answers = await Promise.allSettled(shards.map(async shard => readPositions(services.redis, shard)))
  const readable: ReadShard[] = []
  const faults: unknown[] = []
  for (const [shard, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') readable.push({ shard, positions: answer.value })
    else faults.push(answer.reason)
  }
  try {
    for (const group of grouped(readable)) {
      for (const { stationId, isMissing } of await differingIn(services, group)) {
        if (isMissing || previous.has(stationId)) lasting.push(stationId)
        else fresh.add(stationId)
      }
    }
  } catch (error) {
    faults.push(error)
  }
  return { lasting, fresh, faults }
}

/** A shard with the positions of its stations. */
type ReadShard = { readonly shard: number; readonly positions: ReadonlyMap<number, string> }

/** Maximum number of stations per group of several shards. */
const comparedAtOnce = 1_000

/** Groups shards so that about 1,000 stations are compared at once; one by one if Redis has no positions. */
function grouped(read: readonly ReadShard[]): ReadShard[][] {
  const largest = Math.max(...read.map(({ positions }) => positions.size))
  const atOnce = largest > 0 ? Math.max(1, Math.floor(comparedAtOnce / largest)) : 1
  return Array.from({ length: Math.ceil(read.length / atOnce) }, (_, index) =>
    read.slice(index * atOnce, (index + 1) * atOnce)
  )
}

async function differingIn(services: PlayoutServices, group: readonly ReadShard[]) {
  const numbers = group.map(({ shard }) => shard)
  const positions = new Map(group.flatMap(each => [...each.positions]))
  const rows = await services.sql<{ id: number; epoch: string; revision: number }[]>`
    select id, epoch, revision from stations
    where id % ${shards.length} = any(${numbers}::int[]) and deleted_at is null`
  const differing: { stationId: number; isMissing: boolean }[] = []
  for (const { id, epoch, revision } of rows) {
    const position = positions.get(id)
    // A deleted station exists again: Postgres was restored from a backup.
    if (position === '') await dropTombstone(services.redis, id)
    else if (position !== undefined && isCurrent(position, epoch, revision)) continue
    differing.push({ stationId: id, isMissing: !position })
  }
  await removeDeletedStates(services, numbers, positions, new Set(rows.map(({ id }) => id)))
  return differing
}

/** Whether a state shows the current facts. States that only a newer release can read are left to it. */
function isCurrent(text: string, epoch: string, revision: number): boolean {
  const position = parsePosition(text)
  if (isOfNewerRelease(position)) return true
  return isReadable(position) && position.epoch === epoch && position.revision === revision
}

async function publishLanes(services: PlayoutServices, stationIds: readonly number[]): Promise<void> {
  for (let start = 0; start < stationIds.length; start += chunk) {
    const changed = await repairStates(services, stationIds.slice(start, start + chunk))
    if (changed > 0) services.log.info({ stations: changed }, 'live state brought up to the facts')
  }
}
