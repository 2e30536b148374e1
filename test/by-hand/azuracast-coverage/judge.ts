import addFormats from 'ajv-formats'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

import type { DocumentedResponse, Json, OpenApiDocument, Schema } from './document.ts'
import { strictSchema } from './strict-schema.ts'

/** What the server answered. */
export interface Received {
  readonly status: number
  readonly type: string
  readonly bytes: number
  /** Undefined unless it is JSON. */
  readonly json: Json
}

export type Verdict =
  /** As documented, with all keys. */
  | { readonly kind: 'valid' }
  /** A valid list without elements, which shows nothing of their keys. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'keys absent'; readonly keys: readonly string[] }
  | { readonly kind: 'against the schema'; readonly problems: readonly string[] }
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'out of scope' }
  /** Not sent, because the record it needs could not be made. */
  | { readonly kind: 'not sent'; readonly problems: readonly string[] }

/** Judges answers by the schemas of a document, after the changes of `schemas` to them. */
export function openJudge({ schemas }: Pick<OpenApiDocument, 'schemas'>) {
  const names = new Set(Object.keys(schemas))
  const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true })
  addFormats.default(ajv)
  const $defs = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, strictSchema(schema, names)])
  )
  const compiled = new Map<string, ValidateFunction>()
  const validatorOf = (schema: Schema): ValidateFunction => {
    const key = JSON.stringify(schema)
    const known = compiled.get(key) ?? ajv.compile({ ...strictSchema(schema, names), $defs })
    compiled.set(key, known)
    return known
  }
  return (response: DocumentedResponse, received: Received): Verdict => {
    if (received.status === 501) return { kind: 'out of scope' }
    if (received.status >= 400) return { kind: 'refused', problems: [describeRefusal(received)] }
    if (received.status !== response.status)
      return against(`status ${received.status}, documented is ${response.status}`)
    if (response.status >= 300) return { kind: 'valid' }
    if (response.type !== 'application/json') return judgeContent(response, received)
    if (received.json === undefined) return against(`${received.type || 'no content'}, not JSON`)
    if (response.schema === null) return { kind: 'valid' }
    const validate = validatorOf(response.schema)
    if (validate(received.json)) {
      const isEmpty = Array.isArray(received.json) && received.json.length === 0
      return { kind: isEmpty ? 'empty' : 'valid' }
    }
    return judgeErrors(validate.errors ?? [])
  }
}

function judgeErrors(errors: readonly ErrorObject[]): Verdict {
  const own = errors.filter(({ keyword }) => keyword !== 'if')
  const wrong = own.filter(({ keyword }) => keyword !== 'required')
  if (wrong.length > 0) return { kind: 'against the schema', problems: distinct(wrong.map(describeProblem)) }
  return {
    kind: 'keys absent',
    keys: distinct(own.map(({ instancePath, params }) => pathIn(instancePath, params['missingProperty'])))
  }
}

function describeProblem({ instancePath, message, data, params }: ErrorObject): string {
  const allowed = params['allowedValues'] === undefined ? '' : ` (${params['allowedValues'].join(', ')})`
  const value = JSON.stringify(data) ?? ''
  const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value
  return `${pathIn(instancePath) || 'the answer'} ${message}${allowed}, not ${shown}`
}

/** `/0/song/art` becomes `song.art`: what is wrong with one element of a list is often wrong with all. */
const pathIn = (instancePath: string, key?: string) =>
  [...instancePath.split('/').slice(1), ...(key === undefined ? [] : [key])]
    .filter(part => !/^\d+$/.test(part))
    .join('.')

function judgeContent({ type }: DocumentedResponse, received: Received): Verdict {
  if (received.bytes === 0) return against('no content')
  const [group = ''] = type.split('/')
  const isWanted =
    type === 'application/octet-stream'
      ? !received.type.startsWith('application/json')
      : type.endsWith('/*')
        ? received.type.startsWith(`${group}/`)
        : textTypes.some(each => received.type.startsWith(each))
  return isWanted ? { kind: 'valid' } : against(`content type ${received.type}, documented is ${type}`)
}

const textTypes = ['text/', 'application/yaml', 'application/x-yaml']

function describeRefusal({ status, json }: Received): string {
  const message = String(json?.message ?? '')
  return `${status}${message === '' ? '' : ` ${message}`}`
}

const against = (problem: string): Verdict => ({ kind: 'against the schema', problems: [problem] })

const distinct = (texts: readonly string[]) => [...new Set(texts)]
