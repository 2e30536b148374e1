import { access, constants, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { formatSize } from '../../library/storage/size.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { type Finding, okFinding, problemFinding, warningFinding } from './finding.ts'

const fileSystemMs = 5_000
/** The same limits as the alert of a disk that is nearly full. */
const minFreeShare = 0.05
const minFreeBytes = 5 * 2 ** 30
const offWarningMs = 1_000
const offProblemMs = 30_000

interface DataDirCheck {
  readonly findings: readonly Finding[]
  /** Whether this user can read what is in it. */
  readonly isAccessible: boolean
}

/** Checks that DATA_DIR is writable and its secrets are private. */
export async function checkDataDir(dataDir: string): Promise<DataDirCheck> {
  const folder = resolve(dataDir)
  try {
    await withDeadline(fileSystemMs, 'reading DATA_DIR', () =>
      access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    )
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') {
      const advice = 'set DATA_DIR to the folder of the installation; the first start creates it'
      return {
        findings: [warningFinding('DATA_DIR', `${folder} does not exist`, advice)],
        isAccessible: true
      }
    }
    const message = `${folder} is not accessible (${errorCodeOf(error) || String(error)})`
    return {
      findings: [problemFinding('DATA_DIR', message, 'make it writable for this user')],
      isAccessible: false
    }
  }
  const findings: Finding[] = []
  for (const name of ['secrets-key', 'admin-key']) {
    const stats = await stat(join(folder, name)).catch(() => null)
    if (stats !== null && (stats.mode & 0o077) !== 0)
      findings.push(
        problemFinding(
          'DATA_DIR',
          `${join(folder, name)} can be read by other users`,
          `run chmod 600 ${join(folder, name)}`
        )
      )
  }
  return {
    findings: findings.length > 0 ? findings : [okFinding('DATA_DIR', `${folder} is writable`)],
    isAccessible: true
  }
}

/** Checks the free space of the volumes of DATA_DIR and of local storage locations, once for each volume. */
export async function checkDisks(paths: readonly string[]): Promise<Finding> {
  const volumes = new Map<number, string>()
  const full: string[] = []
  const missing: string[] = []
  for (const path of paths) {
    try {
      const [{ dev }, { bsize, blocks, bavail }] = await withDeadline(
        fileSystemMs,
        'reading the volume',
        () => Promise.all([stat(path), statfs(path)])
      )
      if (volumes.has(dev)) continue
      const free = bavail * bsize
      volumes.set(dev, `${formatSize(BigInt(free))} free for ${path}`)
      if (free < Math.min(blocks * bsize * minFreeShare, minFreeBytes)) full.push(path)
    } catch {
      missing.push(path)
    }
  }
  const list = [...volumes.values()].join(', ')
  if (full.length > 0)
    return problemFinding('disk space', list, `free space on the volume of ${full.join(', ')}`)
  if (missing.length > 0)
    return warningFinding(
      'disk space',
      [list, `not accessible: ${missing.join(', ')}`].filter(Boolean).join('; '),
      'mount these folders, or correct the storage locations'
    )
  return okFinding('disk space', list)
}

export interface CheckedClock {
  readonly name: string
  /** By how much this clock is ahead of that of Postgres, in milliseconds. */
  readonly aheadMs: number
}

/** Compares clocks with that of Postgres, which all processes use. */
export function compareClocks(clocks: readonly CheckedClock[]): Finding {
  const list = clocks.map(
    ({ name, aheadMs }) => `${name} ${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(2)} s`
  )
  const message = `compared with Postgres: ${list.join(', ')}`
  const most = Math.max(...clocks.map(({ aheadMs }) => Math.abs(aheadMs)))
  const advice = 'synchronize the clocks with NTP; that of Postgres counts'
  if (most > offProblemMs) return problemFinding('clocks', message, advice)
  return most > offWarningMs ? warningFinding('clocks', message, advice) : okFinding('clocks', message)
}
