import { resolveInsideRoots } from '../../platform/runtime/contained-files.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import { isStoreAway } from '../../platform/runtime/store-errors.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { readFreeBytes } from './local.ts'
import {
  allowedStorageRoots,
  toStorageLocation,
  unsealStoredSecret,
  locationColumnsFragment,
  type StoredLocation,
  toLocationWithoutSecrets
} from './location-record.ts'
import { locationUri } from './location.ts'
import { computeCapacity, formatSize, isStorageFull, usedPercent } from './size.ts'
import { StorageFault, unlessAborted } from './storage-fault.ts'
import { runStorageTask } from './storage-task.ts'
import type { StorageUsage } from './walk.ts'

export interface StorageDeps {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly log: Logger
  readonly config: { readonly STORAGE_ROOTS: readonly string[]; readonly DATA_DIR: string }
}

/** Remote locations are measured less often: listing a bucket costs money. */
const localInterval = '5 minutes'
const remoteInterval = '1 hour'
/** The lease is longer than a measurement may take. */
const measureTimeoutMs = 5 * 60_000
const lease = '6 minutes'
/** For local paths and volumes: a network file system can hang. */
const fileSystemTimeoutMs = 10_000

type LocationRow = StoredLocation & {
  readonly id: number
  readonly quotaBytes: string
  readonly usedBytes: string
  /** The size of the uploads that are being stored, which the measurement may miss. */
  readonly storingBytes: string
}

/** The alert is raised at the first and resolved below the second, so it does not flap. */
const nearlyFullPercent = 90
const resolvedPercent = 85

/** Measures storage locations that are due, up to `concurrency` at once. Each is leased before it is measured. */
export async function measureDueLocations(
  deps: StorageDeps,
  concurrency: number,
  signal: AbortSignal
): Promise<void> {
  if (concurrency === 0 || signal.aborted) return
  const row = await leaseNext(deps.sql)
  if (!row) return
  const continueLane = async () => {
    try {
      await refresh(row, deps, signal)
    } catch (error) {
      if (signal.aborted || isStoreAway(error)) throw error
      // It is measured again when its lease has expired. The others are not affected.
      deps.log.error({ err: error, location: row.id }, 'storage not measured')
    }
    await measureDueLocations(deps, 1, signal)
  }
  // The next lane starts only after this one found work: usually nothing is due.
  await Promise.all([continueLane(), measureDueLocations(deps, concurrency - 1, signal)])
}

async function leaseNext(sql: Sql): Promise<LocationRow | undefined> {
  const [row] = await sql<LocationRow[]>`
    update storage_locations set measure_at = now() + ${lease}::interval
    where id = (
      select id from storage_locations where measure_at <= now() order by measure_at limit 1 for update skip locked)
    returning id, storage_quota_bytes as "quotaBytes", used_bytes as "usedBytes", (
      select coalesce(sum(u.size_bytes), 0) from uploads u join stations s on s.id = u.station_id
      where s.media_storage_location_id = storage_locations.id and u.state = 'storing') as "storingBytes",
      ${locationColumnsFragment(sql)}`
  return row
}

async function refresh(row: LocationRow, deps: StorageDeps, signal: AbortSignal): Promise<void> {
  const { sql, log } = deps
  const interval = row.adapter === 'local' ? localInterval : remoteInterval
  const nextAt = sql`now() + ${interval}::interval * (0.9 + random() * 0.2)`
  // Files that were stored meanwhile may have been missed: they are counted, and the location is measured again soon.
  const addedBytes = sql`(greatest(0, used_bytes - ${row.usedBytes}::numeric) + ${row.storingBytes}::numeric)`
  try {
    const usage = await measure(row, deps, signal)
    await sql`
      update storage_locations set used_bytes = ${String(usage?.usedBytes ?? 0n)}::numeric + ${addedBytes},
        free_bytes = ${toColumn(usage?.freeBytes)},
        measure_at = case when ${addedBytes} > 0 then now() + interval '1 minute' else ${nextAt} end
      where id = ${row.id}`
    await resolveAlert(sql, unreachableAlert(row.id))
    if (usage) await updateNearlyFullAlert(sql, row, usage)
  } catch (error) {
    if (signal.aborted) throw error
    const isFault = error instanceof StorageFault
    if (!isFault) log.error({ err: error, location: row.id }, 'storage not measured')
    // The last measurement is kept: the files of an unreachable server still exist.
    await sql`update storage_locations set measure_at = ${nextAt} where id = ${row.id}`
    await raiseAlert(sql, {
      key: unreachableAlert(row.id),
      title: `Storage cannot be measured: ${locationUri(toLocationWithoutSecrets(row))}`,
      body: isFault ? error.message : 'See the log of the workers for the reason.',
      type: 'warning',
      source: 'storage'
    })
  }
}

const toColumn = (bytes: bigint | null | undefined) => bytes?.toString() ?? null

const unreachableAlert = (id: number) => `storage-unreachable:${id}`
const nearlyFullAlert = (id: number) => `storage-nearly-full:${id}`

/** Resolves the alerts of a location that is being deleted. */
export async function resolveStorageAlerts(tx: Tx, id: number): Promise<void> {
  await resolveAlert(tx, unreachableAlert(id))
  await resolveAlert(tx, nearlyFullAlert(id))
}

async function updateNearlyFullAlert(sql: Sql, row: LocationRow, usage: StorageUsage): Promise<void> {
  const { usedBytes, freeBytes } = usage
  const available = computeCapacity(BigInt(row.quotaBytes), usedBytes, freeBytes)
  const percent = usedPercent(usedBytes, available)
  const key = nearlyFullAlert(row.id)
  if (percent < resolvedPercent) await resolveAlert(sql, key)
  if (percent < nearlyFullPercent || available === null) return
  await raiseAlert(sql, {
    key,
    title: `Storage is ${percent} % full: ${locationUri(toLocationWithoutSecrets(row))}`,
    body: `It contains ${formatSize(usedBytes)} of ${formatSize(available)}.`,
    type: isStorageFull(usedBytes, available) ? 'danger' : 'warning',
    source: 'storage'
  })
}

async function measure(
  row: LocationRow,
  deps: StorageDeps,
  signal: AbortSignal
): Promise<StorageUsage | null> {
  const opened = toStorageLocation(row, field => unsealStoredSecret(row, field, deps.secrets))
  // The real path, so that a link swapped after the check is not followed.
  const location =
    opened.adapter === 'local'
      ? { ...opened, path: await resolveAllowedPath(opened.path, deps, signal) }
      : opened
  return runStorageTask({ work: 'measure', location, timeoutMs: measureTimeoutMs }, signal)
}

async function resolveAllowedPath(path: string, deps: StorageDeps, signal: AbortSignal): Promise<string> {
  const real = await waitForFileSystem(signal, resolveInsideRoots(path, allowedStorageRoots(deps.config)))
  if (real === null) throw new StorageFault('denied')
  return real
}

function waitForFileSystem<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return withAbortTimeout(signal, fileSystemTimeoutMs, limit => unlessAborted(limit, promise))
}

/** Updates the free space of local locations. A volume that does not respond is skipped. */
export async function updateFreeSpace(deps: StorageDeps, signal: AbortSignal): Promise<void> {
  const { sql } = deps
  const rows = await sql<{ id: number; path: string }[]>`
    select id, path from storage_locations where adapter = 'local' order by id limit 1000`
  for (const { id, path } of rows) {
    const free = await readFree(path, deps, signal).catch(() => undefined)
    if (signal.aborted) return
    if (free === undefined) continue
    await sql`
      update storage_locations set free_bytes = ${free}
      where id = ${id} and free_bytes is distinct from ${free}`
  }
}

async function readFree(path: string, deps: StorageDeps, signal: AbortSignal): Promise<string | null> {
  const real = await resolveAllowedPath(path, deps, signal)
  return toColumn(await waitForFileSystem(signal, readFreeBytes(real)))
}
