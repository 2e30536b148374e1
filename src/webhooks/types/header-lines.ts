import { formatCheckMessage } from '../../model/fields/field.ts'

const maxLines = 10

/** Headers of the connection (RFC 9110, 7.6.1) and of the framing, and `accept-encoding`, which is fixed. */
const reserved = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade'
])

/** Why a text is not a list of up to ten lines `Name: value`; null if it is. Empty lines are skipped. */
export function findHeaderLinesProblem(text: string): string | null {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line, number: index + 1 }))
  const given = lines.filter(({ line }) => line.trim() !== '')
  if (given.length > maxLines) return formatCheckMessage('too_long', `must have at most ${maxLines} lines.`)
  const bad = given.find(({ line }) => !isSettable(parseName(line)))
  if (!bad) return null
  const sentence =
    parseName(bad.line) === null ? 'must be "Name: value"' : 'must name a header that may be set'
  return formatCheckMessage('invalid_format', `${sentence}, in line ${bad.number}.`)
}

/** Parses valid lines: values by name in lower case; values of a repeated name are joined by commas. */
export function parseHeaderLines(text: string): Record<string, string> {
  const headers = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const name = parseName(line)
    if (name === null) continue
    const value = line.slice(name.length + 1).trim()
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

/** The name in a well-formed header line in lower case, else null. */
function parseName(line: string): string | null {
  const [, name] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t\x20-\x7E\x80-\xFF]*$/.exec(line) ?? []
  return name?.toLowerCase() ?? null
}

function isSettable(name: string | null): boolean {
  return (
    name !== null && !reserved.has(name) && !name.startsWith('webhook-') && !name.startsWith('x-cuewire-')
  )
}
