import { problem } from '../fields/field.ts'

const most = 10

/**
 * Headers that belong to the connection (RFC 9110, 7.6.1) or say where the message ends, and the one for
 * answers, which are asked for as they are.
 */
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

const isEmpty = (line: string) => line.trim() === ''

/**
 * Why a text is not up to ten lines `Name: value` of headers that may be set; null if it is. Empty lines are
 * skipped.
 */
export function headerLinesProblem(text: string): string | null {
  const lines = text.split(/\r?\n/)
  if (lines.filter(line => !isEmpty(line)).length > most)
    return problem('too_long', `must have at most ${most} lines.`)
  const bad = lines.findIndex(line => !isEmpty(line) && !isSettable(nameIn(line)))
  const line = lines[bad]
  if (line === undefined) return null
  const sentence = nameIn(line) === null ? 'must be "Name: value"' : 'must name a header that may be set'
  return problem('invalid_format', `${sentence}, in line ${bad + 1}.`)
}

/**
 * What lines without a problem set: values by name in lower case; where a name comes again its values are a
 * list.
 */
export function headersIn(text: string): Record<string, string> {
  const headers = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const name = nameIn(line)
    if (name === null) continue
    const value = line.slice(name.length + 1).trim()
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

/** The name of a well-formed header line in lower case, else null. */
function nameIn(line: string): string | null {
  const [, name] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t\x20-\x7E\x80-\xFF]*$/.exec(line) ?? []
  return name?.toLowerCase() ?? null
}

function isSettable(name: string | null): boolean {
  return (
    name !== null && !reserved.has(name) && !name.startsWith('webhook-') && !name.startsWith('x-cuewire-')
  )
}
