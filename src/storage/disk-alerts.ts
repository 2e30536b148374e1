import { stat, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'

import { raiseAlert, resolveAlert } from '../db/notifications.ts'
import type { Sql } from '../db/sql.ts'
import { withAbortTimeout } from '../runtime/deadline.ts'
import { unlessAborted } from './fault.ts'
import { formatSize } from './size.ts'

/** A network file system can hang. */
const fileSystemTimeoutMs = 10_000

/** The alert is raised below the smaller of these, and resolved above it by a fifth, so it does not flap. */
const minFreeShare = 0.05
const minFreeBytes = 5 * 2 ** 30
const resolvedFactor = 1.2

interface Volume {
  readonly path: string
  readonly freeBytes: number
  readonly sizeBytes: number
}

/**
 * Notifies operators once of each volume of this machine that is nearly full: of the data folder, and of local storage
 * locations. Resolves the alerts of volumes that have space again. A volume that does not respond is skipped.
 */
export async function updateDiskAlerts(sql: Sql, dataFolder: string, signal: AbortSignal): Promise<void> {
  const rows = await sql<{ path: string }[]>`
    select path from storage_locations where adapter = 'local' order by id limit 1000`
  for (const volume of await readVolumes([dataFolder, ...rows.map(({ path }) => path)], signal))
    await updateAlert(sql, volume)
}

/** Reads each volume once, under the first of its paths. */
async function readVolumes(paths: readonly string[], signal: AbortSignal): Promise<readonly Volume[]> {
  const volumes = new Map<number, Volume>()
  for (const path of paths) {
    const read = async (limit: AbortSignal) => {
      const { dev } = await unlessAborted(limit, stat(path))
      if (volumes.has(dev)) return
      const { bsize, blocks, bavail } = await unlessAborted(limit, statfs(path))
      volumes.set(dev, { path, freeBytes: bavail * bsize, sizeBytes: blocks * bsize })
    }
    await withAbortTimeout(signal, fileSystemTimeoutMs, read).catch(() => signal.throwIfAborted())
  }
  return [...volumes.values()]
}

async function updateAlert(sql: Sql, { path, freeBytes, sizeBytes }: Volume): Promise<void> {
  const fact = `disk-full:${hostname()}:${path}`
  const leastBytes = Math.min(sizeBytes * minFreeShare, minFreeBytes)
  if (freeBytes > leastBytes * resolvedFactor) await resolveAlert(sql, fact)
  if (freeBytes >= leastBytes) return
  await raiseAlert(sql, {
    fact,
    title: `A disk is nearly full: ${path} on ${hostname()}`,
    body: `${formatSize(BigInt(freeBytes))} of ${formatSize(BigInt(sizeBytes))} are free. Uploads, imports and the database fail when it is full.`,
    type: 'danger',
    source: 'storage'
  })
}
