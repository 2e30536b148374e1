/** What a line of an access log says of a request. Texts are as the log escapes them. */
export interface AccessEntry {
  readonly address: string
  /** Unix milliseconds; NaN for a day that is in no calendar. */
  readonly atMs: number
  readonly method: string
  readonly target: string
  readonly status: number
  /** Empty in the common format, which does not tell it. */
  readonly agent: string
}

/** The time and the quote after it: no quote comes before them, since web servers escape those of a user's name. */
const time = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d [+-]\d{4})\] "/
const request = /^([A-Z]{1,20}) (\S+)(?: HTTP\/[\d.]+)?$/
const result = /^ (\d{3}) (?:\d+|-)(?= |$)/

/**
 * Reads a line of the common or the combined format, as Apache, nginx and others write them; what comes after is left
 * alone. Null for any other line.
 */
export function parseAccessLine(line: string): AccessEntry | null {
  const address = line.slice(0, Math.max(0, line.indexOf(' ')))
  const at = time.exec(line)
  if (address === '' || at === null) return null
  const asked = quoted(line, at.index + at[0].length - 1)
  const [, method, target] = request.exec(asked?.text ?? '') ?? []
  if (!asked || method === undefined || target === undefined) return null
  const rest = line.slice(asked.end)
  const [answered, status] = result.exec(rest) ?? []
  if (answered === undefined) return null
  const referer = quoted(rest, answered.length + 1)
  const agent = referer && quoted(rest, referer.end + 1)
  const [, day, month, year, clock] = at
  const atMs = Date.parse(`${day} ${month} ${year} ${clock}`)
  return { address, atMs, method, target, status: Number(status), agent: agent?.text ?? '' }
}

/** The text in quotes that begins at an index, and where it ends. A backslash escapes what follows it. */
function quoted(line: string, start: number): { text: string; end: number } | null {
  if (line[start] !== '"') return null
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\') index++
    else if (line[index] === '"') return { text: line.slice(start + 1, index), end: index + 1 }
  }
  return null
}
