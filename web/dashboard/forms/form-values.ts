import { isSameJson } from './form-edits.ts'
import type { FormField } from './form-field.ts'

/** The values of a form by the names of its fields. Numbers are text as long as they are edited. */
export type FormValues = Readonly<Record<string, unknown>>

export type ApiRecord = Readonly<Record<string, unknown>>

/** The values with which a form starts: those of the record, or the defaults. Secrets are empty. */
export function initialFormValues(fields: readonly FormField[], record: ApiRecord | null): FormValues {
  return Object.fromEntries(
    fields.map(field => {
      const stored = record === null ? undefined : readPath(record, field.name)
      return [field.name, isSecretField(field) ? '' : (stored ?? field.fallback)]
    })
  )
}

export const isSecretField = ({ kind }: FormField): boolean => kind === 'secret' || kind === 'long-secret'

/** Reads `config.url` of `{config: [{key: 'url', value}]}` or of `{config: {url}}`. */
function readPath(record: ApiRecord, name: string): unknown {
  const [key = '', member] = name.split('.')
  const value = record[key]
  if (member === undefined) return value
  if (Array.isArray(value)) return toNamedPairs(value).find(pair => pair.key === member)?.value
  return Object.entries(value ?? {}).find(([each]) => each === member)?.[1]
}

interface Pair {
  readonly key: string
  readonly value: unknown
}

const isPair = (each: unknown): each is Pair =>
  typeof each === 'object' && each !== null && 'key' in each && 'value' in each

/** The named values of a list of them; none if it is something else. */
export const toNamedPairs = (value: unknown): readonly Pair[] =>
  Array.isArray(value) ? value.filter(isPair) : []

/**
 * The body that stores the values: for a new record (`before` is null) what differs from the defaults, else
 * what was changed. An emptied field that has a default is reset to it; null removes a secret.
 */
export function toRequestBody(
  fields: readonly FormField[],
  values: FormValues,
  before: FormValues | null
): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value = values[field.name]
    const reference = before === null ? field.fallback : before[field.name]
    const isNeeded = before === null && field.isRequired
    if (field.isFixed && before !== null) continue
    if (!isNeeded && isSameJson(value, reference)) continue
    assign(body, field.name, toInput(field, value))
  }
  return body
}

function toInput({ kind }: FormField, value: unknown): unknown {
  if (kind !== 'number' || typeof value !== 'string') return value
  const text = value.trim()
  if (text === '') return null
  // The server names the problem of a text that is no number.
  return Number.isFinite(Number(text)) ? Number(text) : text
}

function assign(body: Record<string, unknown>, name: string, value: unknown): void {
  const [key = '', member] = name.split('.')
  if (member === undefined) body[key] = value
  else body[key] = { ...Object(body[key]), [member]: value }
}

/** `name=value` in each line, from a list of named values. */
export const pairsToText = (pairs: unknown): string =>
  toNamedPairs(pairs)
    .map(({ key, value }) => `${key}=${String(value)}`)
    .join('\n')

/** Parses `name=value` in each line; a line without `=` is a name with an empty value. */
export function textToPairs(text: string): { key: string; value: string }[] {
  return splitTextLines(text).map(line => {
    const [key = '', ...rest] = line.split('=')
    return { key: key.trim(), value: rest.join('=').trim() }
  })
}

/** The lines that are not blank, trimmed. */
export const splitTextLines = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
