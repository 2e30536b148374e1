import { decodePercent } from '../../platform/text/percent-encoding.ts'
import { hashListener } from '../server-stream.ts'

/** The time and the quote after it. No other quote precedes it: web servers escape those in user names. */
const time = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d [+-]\d{4})\] "/
const request = /^([A-Z]{1,20}) (\S+)(?: HTTP\/[\d.]+)?$/
const result = /^ (\d{3}) (?:\d+|-)(?= |$)/

type AccessEntry = NonNullable<ReturnType<typeof parseAccessLogLine>>

/**
 * Parses a line of the common or combined log format of Apache, nginx and others; extra fields at the end are
 * ignored. Texts stay escaped, `atMs` is NaN for an invalid date, and `agent` is empty in the common format.
 * Returns null for any other line.
 */
export function parseAccessLogLine(line: string) {
  const address = line.slice(0, Math.max(0, line.indexOf(' ')))
  const at = time.exec(line)
  if (address === '' || at === null) return null
  const requestLine = readQuoted(line, at.index + at[0].length - 1)
  const [, method, target] = request.exec(requestLine?.text ?? '') ?? []
  if (!requestLine || method === undefined || target === undefined) return null
  const rest = line.slice(requestLine.end)
  const [matched, status] = result.exec(rest) ?? []
  if (matched === undefined) return null
  const referer = readQuoted(rest, matched.length + 1)
  const agent = referer && readQuoted(rest, referer.end + 1)
  const [, day, month, year, clock] = at
  const atMs = Date.parse(`${day} ${month} ${year} ${clock}`)
  return { address, atMs, method, target, status: Number(status), agent: agent?.text ?? '' }
}

/** Reads the quoted text at an index, and where it ends. A backslash escapes the next character. */
function readQuoted(line: string, start: number): { text: string; end: number } | null {
  if (line[start] !== '"') return null
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\') index++
    else if (line[index] === '"') return { text: line.slice(start + 1, index), end: index + 1 }
  }
  return null
}

/** A request for the media playlist of a variant, which players repeat while they play. */
export interface HlsFetch {
  readonly shortName: string
  /** The path of the playlist below the station's folder, without `.m3u8`. */
  readonly variant: string
  readonly identity: string
  readonly address: string
  readonly agent: string
}

/** The multivariant playlist is fetched once and not only by players, so it does not count. */
const multivariant = 'live'
const countedStatuses: ReadonlySet<number> = new Set([200, 206, 304])
const hlsPath = /^\/hls\/([^/]{1,100})\/(.{1,255})\.m3u8$/

/** Parses `/hls/{short name}/{variant}.m3u8`. Returns null for other requests and failed ones. */
export function parseHlsFetch({ address, method, target, status, agent }: AccessEntry): HlsFetch | null {
  if (method !== 'GET' || !countedStatuses.has(status)) return null
  const [, shortName, variant] = hlsPath.exec(decodeTargetPath(target)) ?? []
  if (shortName === undefined || variant === undefined || variant === multivariant) return null
  return { shortName, variant, identity: hashListener(address, agent), address, agent: decodeLogField(agent) }
}

const maxAgentLength = 255

/** Replaces the escapes of web servers: `\"`, `\\` and `\x22`. */
const decodeLogField = (text: string): string =>
  text
    .slice(0, maxAgentLength)
    .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(["\\])/g, '$1')

/** Returns the decoded path of a request target, which may be absolute; empty if it is malformed. */
function decodeTargetPath(target: string): string {
  return decodePercent(target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/, '')) ?? ''
}
