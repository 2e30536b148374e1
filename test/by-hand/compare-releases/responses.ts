/** What is compared of an answer. */
export interface ComparedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Headers that differ in each answer, or with the connection. */
const incidental = new Set([
  'date',
  'x-request-id',
  'x-cuewire-epoch',
  'etag',
  'last-modified',
  'connection',
  'keep-alive',
  // It follows from the body.
  'content-length'
])

/**
 * Values that differ between two runs: random ids and keys, times of the writes and positions in a song. Each has the
 * same length or form in both.
 */
const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{16}:[0-9a-f]{32}/g, 'KEY'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID'],
  [/"(elapsed|remaining|duration_ms)":[0-9.]+/g, '"$1":TIME'],
  // The disk is in use, and jobs run meanwhile.
  [/"(storageAvailable(?:Bytes)?|available(?:_bytes)?)":"[^"]*"/g, '"$1":SIZE'],
  [/"(waiting|active|delayed|overdue|late_ms)":\d+/g, '"$1":COUNT'],
  [/evt_[a-z2-7]{26}/g, 'EVENT'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, 'TIME'],
  [/\b1[789]\d{8}(\d{3}|\.\d+)?\b/g, 'TIME'],
  [/"(key|identifier|api_key)":"[0-9a-f]{16}"/g, '"$1":"ID"'],
  [/whsec_[A-Za-z0-9+/=]+/g, 'SECRET'],
  [/\b[0-9a-f]{24}\b/g, 'UNIQUE'],
  [/\b[0-9a-f]{16}\b/g, 'ID']
]

export const maskIncidental = (text: string): string =>
  masks.reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), text)

/** Describes how two answers differ; empty if they are the same. */
export function findDifferences(older: ComparedResponse, newer: ComparedResponse): string[] {
  const found: string[] = []
  if (older.status !== newer.status) found.push(`status ${older.status} became ${newer.status}`)
  const names = new Set([...Object.keys(older.headers), ...Object.keys(newer.headers)])
  for (const name of names) {
    const [before, after] = [older, newer].map(({ headers }) => maskIncidental(headers[name] ?? 'absent'))
    if (before !== after && !incidental.has(name)) found.push(`header ${name}: ${before} became ${after}`)
  }
  const [before = '', after = ''] = [older, newer].map(({ body }) => maskIncidental(body))
  if (before !== after) found.push(`body ${describeFirst(before, after)}`)
  return found
}

const around = 60

/** The first place where two texts differ. */
function describeFirst(before: string, after: string): string {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const part = (text: string) => JSON.stringify(text.slice(Math.max(0, at - around), at + around))
  return `${part(before)} became ${part(after)}`
}
