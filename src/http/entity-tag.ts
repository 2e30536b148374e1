/**
 * Whether an `If-None-Match` header names this tag. Weak and strong tags compare alike; `*` is any. Nothing
 * names the empty tag, of what has none.
 */
export function isNamed(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || etag === '') return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = opaqueOf(etag)
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque)
}

const opaqueOf = (etag: string) => etag.slice(etag.indexOf('"'))
