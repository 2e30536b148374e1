const statuses = new Set([429, 502, 503, 504])

/** Parses `Retry-After`, seconds or a date (RFC 9110, 10.2.3); null if absent, invalid or not applicable. */
export function parseRetryAfter(status: number, header: string | undefined, nowMs: number): number | null {
  if (!statuses.has(status) || header === undefined) return null
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000
  // Date.parse accepts more than HTTP dates.
  const date = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
