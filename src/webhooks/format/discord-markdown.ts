import { isWebAddress } from '../../model/fields/field.ts'
import { encodeUrlValue, encodeUrlCharacters } from './addresses.ts'
import { escapeInCode } from './plain-text.ts'
import type { TextFormat } from './template.ts'

/** Discord's Markdown. Backslashes escape except in code and URLs. Mentions are disabled by the message. */
export const discordMarkdownFormat: TextFormat = {
  write: (value, { path, before, outline, after }) => {
    const opening = findOpenCode(outline, after)
    if (opening !== '') return escapeInCode(value, opening, before)
    const begun = findOpenAddress(outline)
    if (begun !== null) return encodeMarkup(encodeUrlValue(value, begun === ''))
    if (/(^|[._])(art|url)$/i.test(path) && isWebAddress(value)) return encodeMarkup(value)
    const text = escapeMarkdown(value, before)
    // After a backslash of the template, another one would be a literal backslash.
    return /(?<!\\)(?:\\\\)*\\$/.test(outline) ? text.replace(/^\\/, '') : text
  },
  isMarkup: true
}

/** Encodes the characters of a URL that are markup or would end a link. */
const encodeMarkup = (address: string) => encodeUrlCharacters(address, /[*~`|\\[\]()<>]/g)

/** The beginning of a URL at the end of a text, in a link or by itself; null if there is none. */
function findOpenAddress(text: string): string | null {
  const [, target] = /(?<!\\)\]\(<?([^\s()<>]*)$/.exec(text) ?? []
  if (target !== undefined) return target
  const word = text.split(/[\s()<>]/).at(-1) ?? ''
  return /https?:\/\//i.test(word) ? word : null
}

/** Escapes colons as well: a URL in a value would be a broken link, and `:joy:` an emoji. */
function escapeMarkdown(value: string, before: string): string {
  const line = before.slice(Math.max(before.lastIndexOf('\n') + 1, before.length - 100))
  const isLineBegun = /[\p{L}\p{N}]/u.test(line)
  const isTarget = before.endsWith(']') && value.startsWith('(')
  const text = value
    .replace(/[\\*_~`|[\]<]|:(?!\s)/g, '\\$&')
    .replace(/(?<=\])\(/g, '\\(')
    .split('\n')
    .map((each, index) => (index === 0 && isLineBegun ? each : escapeLineStart(each)))
    .join('\n')
  return isTarget ? `\\${text}` : text
}

/** Escapes the beginning of a heading, quotation or list. */
function escapeLineStart(line: string): string {
  return line.replace(/^(\s*)([#>+-])/, '$1\\$2').replace(/^(\s*\d+)\./, '$1\\.')
}

/** The backticks of code that is open, and that the template closes with the same number; else `''`. */
function findOpenCode(outline: string, after: string): string {
  let open = ''
  let escapedAt = -1
  for (const { 0: run, index } of outline.matchAll(/\\+|`+/g))
    if (run.startsWith('\\')) escapedAt = run.length % 2 === 1 ? index + run.length : -1
    else if (open === '') open = index === escapedAt ? run.slice(1) : run
    else if (run === open) open = ''
  return after.split(/[^`]+/).includes(open) ? open : ''
}
