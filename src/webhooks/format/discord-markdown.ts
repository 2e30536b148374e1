import { isWebAddress } from '../../fields/field.ts'
import { addressPart, encodedIn, isAddressPath } from '../redact.ts'
import { inCode } from './plain-text.ts'
import type { Format } from './template.ts'

/**
 * Discord's Markdown. A backslash works everywhere but in code and in addresses. Who is mentioned is not said
 * here: messages have a field for it.
 */
export const discordMarkdown: Format = {
  write: (value, { path, before, outline, after }) => {
    const opening = codeOpenIn(outline, after)
    if (opening !== '') return inCode(value, opening, before)
    const begun = addressBegunIn(outline)
    if (begun !== null) return plainAddress(addressPart(value, begun === ''))
    if (isAddressPath(path) && isWebAddress(value)) return plainAddress(value)
    const text = escaped(value, before)
    // A backslash of the template escapes what follows it: together with ours it would be a backslash.
    return isEscaped(outline) ? text.replace(/^\\/, '') : text
  },
  isMarkup: true
}

/** Without what would be markup, or the end of a link. */
const plainAddress = (address: string) => encodedIn(address, /[*~`|\\[\]()<>]/g)

/** As much of an address as a text ends with, in a link or by itself; null if it does not. */
function addressBegunIn(text: string): string | null {
  const [, target] = /(?<!\\)\]\(<?([^\s()<>]*)$/.exec(text) ?? []
  if (target !== undefined) return target
  const word = text.split(/[\s()<>]/).at(-1) ?? ''
  return /https?:\/\//i.test(word) ? word : null
}

/**
 * A colon as well: an address that came with a value would be a link with backslashes in it, and `:joy:` a
 * picture.
 */
function escaped(value: string, before: string): string {
  const line = before.slice(Math.max(before.lastIndexOf('\n') + 1, before.length - 100))
  const isLineBegun = /[\p{L}\p{N}]/u.test(line)
  const isTarget = before.endsWith(']') && value.startsWith('(')
  const text = value
    .replace(/[\\*_~`|[\]<]|:(?!\s)/g, '\\$&')
    .replace(/(?<=\])\(/g, '\\(')
    .split('\n')
    .map((each, index) => (index === 0 && isLineBegun ? each : lineBegin(each)))
    .join('\n')
  return isTarget ? `\\${text}` : text
}

/** Whether a text ends with a backslash that no other escapes. */
function isEscaped(text: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(text)
}

/** No heading, quotation or list begins with the line. */
function lineBegin(line: string): string {
  return line.replace(/^(\s*)([#>+-])/, '$1\\$2').replace(/^(\s*\d+)\./, '$1\\.')
}

/** The backticks of code that is open. It ends with the same number of them; what never ends is no code. */
function codeOpenIn(outline: string, after: string): string {
  let open = ''
  let escapedAt = -1
  for (const { 0: run, index } of outline.matchAll(/\\+|`+/g))
    if (run.startsWith('\\')) escapedAt = run.length % 2 === 1 ? index + run.length : -1
    else if (open === '') open = index === escapedAt ? run.slice(1) : run
    else if (run === open) open = ''
  return after.split(/[^`]+/).includes(open) ? open : ''
}
