import { decodePercent } from '../text/percent-encoding.ts'

/** Removes the secrets of keys from a path, which may name a key to revoke it, in any encoding. */
export function redactKeysInPath(path: string): string {
  // An invalid path may contain a key nevertheless.
  const decoded = decodePercent(path) ?? path.replace(/%3a/gi, ':')
  const redacted = decoded.replace(/([0-9a-f]{16}):[0-9a-f]{32}/gi, '$1')
  return redacted === decoded ? path : redacted
}
