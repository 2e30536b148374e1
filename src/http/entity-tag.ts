/** Whether an `If-None-Match` header names this tag. Weak and strong tags compare alike; `*` is any. */
export function isNamed(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = opaqueOf(etag)
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque)
}

const opaqueOf = (etag: string) => etag.slice(etag.indexOf('"'))
