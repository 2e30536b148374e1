import { normalizeText } from './plain-text.ts'
import { characters, truncate } from './truncate.ts'

/** How values are written into a text of one kind. */
export interface Format {
  readonly write: (value: string, place: Place) => string
  /** The text would be torn if it were cut anywhere: what is too long becomes shorter values. */
  readonly isMarkup: boolean
}

/** Where a value is written. */
export interface Place {
  /** What the template calls it: `now_playing.song.title`. */
  readonly path: string
  /** All that stands before it, values included. */
  readonly before: string
  /**
   * The same with a letter in place of each value that is not empty: values are so written that they change
   * no markup.
   */
  readonly outline: string
  /** The template behind it. */
  readonly after: string
}

interface Variable extends Omit<Place, 'before' | 'outline'> {
  /** The template between the variable before it and this one. */
  readonly literal: string
  readonly value: string
}

interface Filled {
  readonly variables: readonly Variable[]
  /** The template behind the last variable. */
  readonly tail: string
}

/**
 * A template in which `{{ path }}` stands for a value of the document, of at most so many characters (code
 * points). Names in a path are those of the document, else those that differ in case; numbers index lists.
 * What is not there, and what is no single value, is empty. Values are made legible, and are never read as
 * templates.
 *
 * What is too long is cut off with `…`. In markup it is the values that are cut, the longest first: the whole
 * is cut only where the template without them is too long already, which `lengthWithoutValues` tells.
 */
export function fill(template: string, document: unknown, format: Format, most: number): string {
  const filled = read(template, document)
  const whole = write(filled, format, most)
  if (!format.isMarkup || characters(whole) <= most) return truncate(whole, most)
  const own = lengthWithoutValues(template)
  const lengthOf = remembering(characters)
  const lengths = filled.variables.map(({ value }) => lengthOf(value))
  const leastOf = (length: number) => lengths.reduce((sum, each) => sum + Math.min(each, length), own)
  let best = write(shortened(filled, 0), format, most)
  let fits = 0
  let isTooLong = most + 1
  while (isTooLong - fits > 1) {
    const length = Math.floor((fits + isTooLong) / 2)
    const text = leastOf(length) > most ? null : write(shortened(filled, length), format, most)
    if (text === null || characters(text) > most) isTooLong = length
    else {
      fits = length
      best = text
    }
  }
  return truncate(best, most)
}

/** The characters of a template that are no variables. */
export function lengthWithoutValues(template: string): number {
  return characters(template.replace(variable, ''))
}

const variable = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g

function read(template: string, document: unknown): Filled {
  let end = 0
  const textOf = remembering(path => textAt(document, path))
  const variables = Array.from(template.matchAll(variable), ({ 0: text, 1: path = '', index }) => {
    const literal = template.slice(end, index)
    end = index + text.length
    return { literal, path, value: textOf(path), after: template.slice(end) }
  })
  return { variables, tail: template.slice(end) }
}

/**
 * What is more than twice as long as it may be is not finished: it will be cut off, or is too long in any
 * case.
 */
function write({ variables, tail }: Filled, format: Format, most: number): string {
  let text = ''
  let outline = ''
  for (const { literal, value, path, after } of variables) {
    if (text.length > 2 * most) return text
    const before = text + literal
    outline += literal
    text = before + (value === '' ? '' : format.write(value, { path, before, outline, after }))
    if (value !== '') outline += 'x'
  }
  return text + tail
}

function shortened({ variables, tail }: Filled, length: number): Filled {
  const shorter = remembering(value => (length === 0 ? '' : truncate(value, length)))
  return { variables: variables.map(each => ({ ...each, value: shorter(each.value) })), tail }
}

/** A template may name one long value thousands of times. */
function remembering<Found>(find: (text: string) => Found): (text: string) => Found {
  const known = new Map<string, Found>()
  return text => {
    const found = known.get(text) ?? find(text)
    known.set(text, found)
    return found
  }
}

function textAt(document: unknown, path: string): string {
  const value = valueAt(document, path)
  return ['string', 'number', 'boolean'].includes(typeof value) ? normalizeText(String(value)) : ''
}

/** All of the path as one name first: the short name of a custom field may hold dots. */
function valueAt(value: unknown, path: string): unknown {
  if (!isObject(value)) return undefined
  const whole = memberOf(value, path)
  const dot = path.indexOf('.')
  if (whole !== undefined || dot < 0) return whole
  return valueAt(memberOf(value, path.slice(0, dot)), path.slice(dot + 1))
}

function memberOf(value: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined
  if (Object.hasOwn(value, name)) return value[name]
  const lower = name.toLowerCase()
  const [, found] = Object.entries(value).find(([key]) => key.toLowerCase() === lower) ?? []
  return found
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
