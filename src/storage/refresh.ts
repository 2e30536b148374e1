import { raiseAlert, resolveAlert } from '../db/notifications.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { resolveInside } from '../runtime/contained-files.ts'
import type { Logger } from '../runtime/log.ts'
import type { Secrets } from '../security/secrets.ts'
import { StorageFault, untilAborted } from './fault.ts'
import { readFreeBytes } from './local.ts'
import { locationUri } from './location.ts'
import {
  allowedRoots,
  type KeptRecord,
  assertComplete,
  openKept,
  openLocation,
  placeOf,
  recordColumns
} from './record.ts'
import { measureRemote } from './remote.ts'
import { capacityOf, formatSize, isFull, type Usage, usedPercent } from './size.ts'

export interface RefreshParts {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly log: Logger
  readonly config: { readonly STORAGE_ROOTS: readonly string[]; readonly DATA_DIR: string }
}

/** How often a location is counted; a listing of a bucket costs money. */
const localEvery = '5 minutes'
const remoteEvery = '1 hour'
/** How long one count may take. The claim lasts longer, so that no two processes count at once. */
const timeoutMs = 5 * 60_000
const claim = '6 minutes'
/** How long a look at a folder or a volume may take: a network file system can be away. */
const lookMs = 10_000

type Row = KeptRecord & { readonly id: number; readonly quotaBytes: string }

/** From this on operators are told; below the second figure it is over. */
const nearlyFullPercent = 90
const easedPercent = 85

/**
 * Counts the storage locations whose time has come, at most `lanes` at once, and writes down what they hold.
 * It may run in any number of processes: a location is claimed before it is counted, and a claim that was
 * left behind runs out.
 */
export async function refreshDue(parts: RefreshParts, lanes: number, signal: AbortSignal): Promise<void> {
  if (lanes === 0 || signal.aborted) return
  const row = await claimNext(parts.sql)
  if (!row) return
  const sameLane = async () => {
    await refresh(row, parts, signal)
    await refreshDue(parts, 1, signal)
  }
  // The next lane opens only now: most looks find nothing.
  await Promise.all([sameLane(), refreshDue(parts, lanes - 1, signal)])
}

async function claimNext(sql: Sql): Promise<Row | undefined> {
  const [row] = await sql<Row[]>`
    update storage_locations set measure_at = now() + ${claim}::interval
    where id = (
      select id from storage_locations where measure_at <= now() order by measure_at limit 1 for update skip locked)
    returning id, storage_quota_bytes as "quotaBytes", ${recordColumns(sql)}`
  return row
}

async function refresh(row: Row, parts: RefreshParts, signal: AbortSignal): Promise<void> {
  const { sql, log } = parts
  const every = row.adapter === 'local' ? localEvery : remoteEvery
  const again = sql`measure_at = now() + ${every}::interval * (0.9 + random() * 0.2)`
  try {
    const usage = await measure(row, parts, signal)
    const free = usage?.freeBytes ?? null
    await sql`
      update storage_locations set used_bytes = ${String(usage?.usedBytes ?? 0n)},
        free_bytes = ${free === null ? null : String(free)}, ${again}
      where id = ${row.id}`
    await resolveAlert(sql, unreachable(row.id))
    if (usage) await tellWhenNearlyFull(sql, row, usage)
  } catch (error) {
    if (signal.aborted) throw error
    const isFault = error instanceof StorageFault
    if (!isFault) log.error({ err: error, location: row.id }, 'storage not counted')
    // What was counted last stays: a server that is away for an hour does not make the files go away.
    await sql`update storage_locations set ${again} where id = ${row.id}`
    await raiseAlert(sql, {
      fact: unreachable(row.id),
      title: `Storage cannot be counted: ${locationUri(placeOf(row))}`,
      body: isFault ? error.message : 'The log of the workers says why.',
      type: 'warning',
      source: 'storage'
    })
  }
}

const unreachable = (id: number) => `storage-unreachable:${id}`
const nearlyFull = (id: number) => `storage-nearly-full:${id}`

/** Nothing that was told of a location holds any more: it is being deleted. */
export async function settleStorage(tx: Tx, id: number): Promise<void> {
  await resolveAlert(tx, unreachable(id))
  await resolveAlert(tx, nearlyFull(id))
}

/** The gap between the two figures keeps a location at the edge from being told of again and again. */
async function tellWhenNearlyFull(sql: Sql, row: Row, { usedBytes, freeBytes }: Usage): Promise<void> {
  const available = capacityOf(BigInt(row.quotaBytes), usedBytes, freeBytes)
  const percent = usedPercent(usedBytes, available)
  const fact = nearlyFull(row.id)
  if (percent < easedPercent) await resolveAlert(sql, fact)
  if (percent < nearlyFullPercent || available === null) return
  await raiseAlert(sql, {
    fact,
    title: `Storage is ${percent} % full: ${locationUri(placeOf(row))}`,
    body: `It holds ${formatSize(usedBytes)} of ${formatSize(available)}.`,
    type: isFull(usedBytes, available) ? 'danger' : 'warning',
    source: 'storage'
  })
}

async function measure(row: Row, parts: RefreshParts, signal: AbortSignal): Promise<Usage | null> {
  const location = openLocation(row, field => openKept(row, field, parts.secrets))
  assertComplete(location)
  if (location.adapter !== 'local') return measureRemote({ work: 'measure', location, timeoutMs }, signal)
  // The real path, so that a link that is swapped now is not followed.
  const path = await realPathOf(location.path, parts, signal)
  return measureRemote({ work: 'measure', location: { ...location, path }, timeoutMs }, signal)
}

async function realPathOf(path: string, { config }: RefreshParts, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const real = await untilAborted(limit, resolveInside(path, allowedRoots(config)))
  if (real === null) throw new StorageFault('denied')
  return real
}

/** Reads how much room the volumes of local locations have; a volume that does not answer is passed over. */
export async function refreshVolumes(parts: RefreshParts, signal: AbortSignal): Promise<void> {
  const { sql } = parts
  const rows = await sql<{ id: number; path: string }[]>`
    select id, path from storage_locations where adapter = 'local' order by id limit 1000`
  for (const { id, path } of rows) {
    const free = await readFree(path, parts, signal).catch(() => undefined)
    if (signal.aborted) return
    if (free === undefined) continue
    await sql`
      update storage_locations set free_bytes = ${free}
      where id = ${id} and free_bytes is distinct from ${free}`
  }
}

async function readFree(path: string, parts: RefreshParts, signal: AbortSignal): Promise<string | null> {
  const real = await realPathOf(path, parts, signal)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const free = await untilAborted(limit, readFreeBytes(real))
  return free === null ? null : String(free)
}
