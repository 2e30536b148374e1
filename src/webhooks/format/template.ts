import { removeControlCharacters, withoutMentions } from './plain-text.ts'
import { countCharacters, truncateCharacters } from './truncate.ts'

/** How values are written into a text of one kind. */
export interface TextFormat {
  readonly write: (value: string, place: InsertionPoint) => string
  /** Truncating the text could break markup: if it is too long, values are truncated instead. */
  readonly isMarkup: boolean
}

/** Where a value is written. */
interface InsertionPoint {
  /** The variable: `now_playing.song.title`. */
  readonly path: string
  /** The text before it, values included. */
  readonly before: string
  /** The same with a letter for each value that is not empty: values are escaped and change no markup. */
  readonly outline: string
  /** The template after it. */
  readonly after: string
}

/** Text without markup. */
export const plainTextFormat: TextFormat = { write: value => value, isMarkup: false }

/** Text of a network in which `@name` mentions a user, which values must not do. */
export const socialTextFormat: TextFormat = { write: withoutMentions, isMarkup: false }

type ParsedTemplate = ReturnType<typeof parse>

/**
 * Fills a template, in which `{{ path }}` stands for a value of the document, up to `max` characters (code
 * points). Names in a path ignore case if there is no exact match; numbers index lists. A missing value, an
 * object and a list are empty. Values are normalized, and are not parsed as templates.
 *
 * A text that is too long is truncated with `…`. In markup the longest values are truncated instead, unless
 * the template alone is too long (`lengthWithoutValues`).
 */
export function fillTemplate(template: string, document: unknown, format: TextFormat, max: number): string {
  const parsed = parse(template, document)
  const whole = write(parsed, format, max)
  if (!format.isMarkup || countCharacters(whole) <= max) return truncateCharacters(whole, max)
  const own = lengthWithoutValues(template)
  const lengthOf = memoize(countCharacters)
  const lengths = parsed.variables.map(({ value }) => lengthOf(value))
  const minimumFor = (length: number) => lengths.reduce((sum, each) => sum + Math.min(each, length), own)
  let best = write(truncateValues(parsed, 0), format, max)
  let fits = 0
  let isTooLong = max + 1
  while (isTooLong - fits > 1) {
    const length = Math.floor((fits + isTooLong) / 2)
    const text = minimumFor(length) > max ? null : write(truncateValues(parsed, length), format, max)
    if (text === null || countCharacters(text) > max) isTooLong = length
    else {
      fits = length
      best = text
    }
  }
  return truncateCharacters(best, max)
}

/** The number of characters of a template outside of variables. */
export function lengthWithoutValues(template: string): number {
  return countCharacters(template.replace(variable, ''))
}

const variable = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g

/** Returns the variables, each with the literal text before it, and the text after the last one. */
function parse(template: string, document: unknown) {
  let end = 0
  const textOf = memoize(path => findText(document, path))
  const variables = Array.from(template.matchAll(variable), ({ 0: text, 1: path = '', index }) => {
    const literal = template.slice(end, index)
    end = index + text.length
    return { literal, path, value: textOf(path), after: template.slice(end) }
  })
  return { variables, tail: template.slice(end) }
}

/** Stops at twice the maximum length: the text is truncated or too long anyway. */
function write({ variables, tail }: ParsedTemplate, format: TextFormat, max: number): string {
  let text = ''
  let outline = ''
  for (const { literal, value, path, after } of variables) {
    if (text.length > 2 * max) return text
    const before = text + literal
    outline += literal
    text = before + (value === '' ? '' : format.write(value, { path, before, outline, after }))
    if (value !== '') outline += 'x'
  }
  return text + tail
}

function truncateValues({ variables, tail }: ParsedTemplate, length: number): ParsedTemplate {
  const shorten = memoize(value => (length === 0 ? '' : truncateCharacters(value, length)))
  return { variables: variables.map(each => ({ ...each, value: shorten(each.value) })), tail }
}

/** A template may contain one long value thousands of times. */
function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  return text => {
    const result = known.get(text) ?? compute(text)
    known.set(text, result)
    return result
  }
}

function findText(document: unknown, path: string): string {
  const value = findValue(document, path)
  return ['string', 'number', 'boolean'].includes(typeof value) ? removeControlCharacters(String(value)) : ''
}

/** Tries the whole path as one name first: the short name of a custom field may contain dots. */
function findValue(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const whole = findMember(value, path)
  const dot = path.indexOf('.')
  if (whole !== undefined || dot < 0) return whole
  return findValue(findMember(value, path.slice(0, dot)), path.slice(dot + 1))
}

function findMember(value: object, name: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined
  const members = Object.entries(value)
  const lower = name.toLowerCase()
  const found = members.find(([key]) => key === name) ?? members.find(([key]) => key.toLowerCase() === lower)
  return found?.[1]
}
