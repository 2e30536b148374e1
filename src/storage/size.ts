import { StorageFault } from './fault.ts'
import { checkLocal, measureLocal } from './local.ts'
import type { StorageLocation } from './location.ts'

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB']
const pattern = /^\s*(\d+)(?:\.(\d+))?\s*([KMGTPEZY]?)(?:i?B)?\s*$/i
const maxTextLength = 64

/**
 * Reads a size as operators write it (`50 GB`, `1.5gb`, `0.1 MiB`, `1024`) into bytes; `null` when it is
 * none. Units are powers of 1024, a fraction of a byte is dropped. `""` is 0, which as a quota means none.
 * There is no upper limit: what a column can hold is for the caller to check.
 */
export function parseSize(text: string): bigint | null {
  if (text === '') return 0n
  if (text.length > maxTextLength) return null
  const match = pattern.exec(text)
  if (!match) return null
  const [, whole = '', fraction = '', letter = ''] = match
  const power = units.findIndex(unit => unit[0] === (letter.toUpperCase() || 'B'))
  return (BigInt(whole + fraction) * 1024n ** BigInt(power)) / 10n ** BigInt(fraction.length)
}

/**
 * Writes bytes (0 or more) in the largest unit that is not above them, with one decimal, cut and never
 * rounded up: 1048575 is `1023.9 KB`.
 */
export function formatSize(bytes: bigint): string {
  let power = 0
  while (power < units.length - 1 && bytes >= 1024n ** BigInt(power + 1)) power += 1
  const tenths = (bytes * 10n) / 1024n ** BigInt(power)
  return `${tenths / 10n}.${tenths % 10n} ${units[power]}`
}

/**
 * How much a location can hold, in bytes: its quota (0 is none), and never more than what is used and what
 * the volume still has free. `null` when neither the quota nor the volume is known.
 */
export function capacityOf(quota: bigint, used: bigint, free: bigint | null): bigint | null {
  const onVolume = free === null ? null : used + free
  if (quota === 0n) return onVolume
  return onVolume === null || quota < onVolume ? quota : onVolume
}

/**
 * Whole percent, rounded half up. 0 only for nothing used (or an unknown capacity), 100 only for all of it.
 */
export function usedPercent(used: bigint, available: bigint | null): number {
  if (available === null || used === 0n) return 0
  if (used >= available) return 100
  const rounded = Number((used * 200n + available) / (available * 2n))
  return Math.min(99, Math.max(1, rounded))
}

/** Whether nothing more fits. An unknown capacity is never full, nor is one of 0, which is no quota. */
export function isFull(used: bigint, available: bigint | null): boolean {
  return available !== null && available > 0n && used >= available
}

/** What a location holds. */
export interface Usage {
  /** The sizes of all files, as their owner sees them (not the blocks they take). */
  readonly usedBytes: bigint
  readonly files: number
  /** Free on the volume for this user; `null` where that is unknown or means nothing. */
  readonly freeBytes: bigint | null
  /** Folders and files that could not be looked at, so that `usedBytes` is too low; 0 when all is counted. */
  readonly skipped: number
}

// Their libraries are large, and most installations need neither.
async function loadS3() {
  // The version is pinned, so what it says of its later versions is no news to an operator.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  return import('./s3.ts')
}

const loadSftp = async () => import('./sftp.ts')

/**
 * What a location holds right now; `null` for a Dropbox, which is not measured. Reads a whole tree or
 * listing: give the signal a time-out that suits. Throws a `StorageFault`.
 */
export async function measureLocation(location: StorageLocation, signal: AbortSignal): Promise<Usage | null> {
  switch (location.adapter) {
    case 'local':
      return measureLocal(location.path, signal)
    case 's3':
      return (await loadS3()).measureS3(location, location.path, signal)
    case 'sftp':
      return (await loadSftp()).measureSftp(location, location.path, signal)
    case 'dropbox':
      return null
    default:
      return location satisfies never
  }
}

/**
 * Makes sure that a location can be used, without reading all of it; of a Dropbox only that its settings are
 * complete. Throws a `StorageFault` whose message is fit for the operator.
 */
export async function checkLocation(location: StorageLocation, signal: AbortSignal): Promise<void> {
  switch (location.adapter) {
    case 'local':
      return checkLocal(location.path, signal)
    case 's3':
      return (await loadS3()).checkS3(location, signal)
    case 'sftp':
      return (await loadSftp()).checkSftp(location, location.path, signal)
    case 'dropbox':
      if (location.authToken === '') throw new StorageFault('incomplete')
      return
    default:
      return location satisfies never
  }
}
