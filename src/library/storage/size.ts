const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB']
const pattern = /^\s*(\d+)(?:\.(\d+))?\s*([KMGTPEZY]?)(?:i?B)?\s*$/i
const maxTextLength = 64

/**
 * Parses a size (`50 GB`, `1.5gb`, `0.1 MiB`, `1024`) into bytes; null if it is invalid. Units are powers of
 * 1024; fractions of a byte are dropped. `""` is 0. There is no upper limit.
 */
export function parseSize(text: string): bigint | null {
  if (text === '') return 0n
  const match = text.length > maxTextLength ? null : pattern.exec(text)
  if (!match) return null
  const [, whole = '', fraction = '', letter = ''] = match
  const power = units.findIndex(unit => unit[0] === (letter.toUpperCase() || 'B'))
  return (BigInt(whole + fraction) * 1024n ** BigInt(power)) / 10n ** BigInt(fraction.length)
}

/** Formats bytes with one decimal in the largest fitting unit, rounded down: 1048575 is `1023.9 KB`. */
export function formatSize(bytes: bigint): string {
  let power = 0
  while (power < units.length - 1 && bytes >= 1024n ** BigInt(power + 1)) power += 1
  const tenths = (bytes * 10n) / 1024n ** BigInt(power)
  return `${tenths / 10n}.${tenths % 10n} ${units[power]}`
}

/** Returns the bytes that fit: the quota (0 is none), at most used plus free space; null if unknown. */
export function computeCapacity(quota: bigint, used: bigint, free: bigint | null): bigint | null {
  const onVolume = free === null ? null : used + free
  if (quota === 0n) return onVolume
  return onVolume === null || quota < onVolume ? quota : onVolume
}

/** Whole percent. 0 only if nothing is used or the capacity is unknown, 100 only if it is full. */
export function usedPercent(used: bigint, available: bigint | null): number {
  if (available === null || used === 0n) return 0
  if (used >= available) return 100
  const rounded = Number((used * 200n + available) / (available * 2n))
  return Math.min(99, Math.max(1, rounded))
}

/** Whether nothing more fits. An unknown capacity, or one of 0, is never full. */
export function isStorageFull(used: bigint, available: bigint | null): boolean {
  return available !== null && available > 0n && used >= available
}
