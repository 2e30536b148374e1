import { stat, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'

import { diskFreeMetric, diskSizeMetric } from '../../platform/metrics/alerts.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { formatSize } from './size.ts'
import { unlessAborted } from './storage-fault.ts'

/** A network file system can hang. */
const fileSystemTimeoutMs = 10_000
/** Node.js has four threads for the file system, which a hung one blocks. */
const concurrency = 2

/** The alert is raised below the smaller of these, and resolved above it by a fifth, so it does not flap. */
const minFreeShare = 0.05
const minFreeBytes = 5 * 2 ** 30
const resolvedFactor = 1.2

interface Volume {
  /** The first of the paths on it. */
  readonly path: string
  readonly device: number
  readonly freeBytes: number
  readonly sizeBytes: number
}

/**
 * Notifies operators once of each volume of this machine that is nearly full: of the data folder, and of local storage
 * locations. Resolves the alerts of volumes that have space again or are no longer used. A volume that does not respond
 * is skipped.
 */
export async function updateDiskAlerts(sql: Sql, dataFolder: string, signal: AbortSignal): Promise<void> {
  const rows = await sql<{ path: string }[]>`
    select path from storage_locations where adapter = 'local' order by id limit 1000`
  const paths = [...new Set([dataFolder, ...rows.map(({ path }) => path)])]
  const { volumes, skipped } = await readVolumes(paths, signal)
  measureVolumes(volumes)
  const kept = [...volumes.map(({ path }) => path), ...skipped].map(alertKey)
  await sql`delete from open_facts where starts_with(fact, ${alertKey('')}) and fact <> all(${kept}::text[])`
  for (const volume of volumes) await updateAlert(sql, volume)
}

/** Volumes with a metric of their own. */
const maxMeasured = 20

function measureVolumes(volumes: readonly Volume[]): void {
  const measured = volumes.slice(0, maxMeasured)
  diskFreeMetric.read = () => measured.map(({ path, freeBytes }) => [{ path }, freeBytes])
  diskSizeMetric.read = () => measured.map(({ path, sizeBytes }) => [{ path }, sizeBytes])
}

const alertKey = (path: string) => `disk-full:${hostname()}:${path}`

/** Returns each volume once, and the paths without one. */
async function readVolumes(paths: readonly string[], signal: AbortSignal) {
  const volumes = new Map<number, Volume>()
  const reads = openFairSemaphore({ total: concurrency })
  const found = await Promise.all(paths.map(path => reads.run(() => readVolume(path, signal))))
  for (const volume of found)
    if (volume !== null && !volumes.has(volume.device)) volumes.set(volume.device, volume)
  return { volumes: [...volumes.values()], skipped: paths.filter((_, index) => found[index] === null) }
}

/** Returns null if the path does not exist or its file system does not respond. */
async function readVolume(path: string, signal: AbortSignal): Promise<Volume | null> {
  const read = async (limit: AbortSignal) => {
    const [{ dev }, { bsize, blocks, bavail }] = await unlessAborted(
      limit,
      Promise.all([stat(path), statfs(path)])
    )
    return { path, device: dev, freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  }
  return withAbortTimeout(signal, fileSystemTimeoutMs, read).catch(() => {
    signal.throwIfAborted()
    return null
  })
}

async function updateAlert(sql: Sql, { path, freeBytes, sizeBytes }: Volume): Promise<void> {
  const key = alertKey(path)
  const leastBytes = Math.min(sizeBytes * minFreeShare, minFreeBytes)
  if (freeBytes > leastBytes * resolvedFactor) await resolveAlert(sql, key)
  if (freeBytes >= leastBytes) return
  await raiseAlert(sql, {
    key,
    title: `A disk is nearly full: ${path} on ${hostname()}`,
    body: `${formatSize(BigInt(freeBytes))} of ${formatSize(BigInt(sizeBytes))} are free. Uploads, imports and the database fail when it is full.`,
    type: 'danger',
    source: 'storage'
  })
}
