import type { apiRoutes } from '../src/api/routes.ts'
import { formContentType } from '../src/http/route.ts'
import { listSchemaAndAlternatives, isObjectOrArray } from '../src/model/fields/schema-alternatives.ts'
import { maxJsonValues } from '../src/platform/text/json-body.ts'
import { type BodySize, jsonValue, remember, repeat, type ValueKind } from './costly-values.ts'
import { sampleOf } from './schema-samples.ts'

type Route = (typeof apiRoutes)[number]

/** A body of the largest size that its route takes, of a shape that costs more than others. */
export interface CostlyBody {
  readonly name: string
  readonly dialect: 'documented' | 'azuracast'
  readonly contentType: string
  readonly bytes: Buffer
}

const mebibyte = 1024 * 1024
/** Less than a limit, for what is around a value. */
const aroundBytes = 4_096
const json = 'application/json'
const boundary = 'x'
const multipart = `multipart/form-data; boundary=${boundary}`

/** The costliest bodies of a route; none for one without a body. */
export function* costlyBodies(route: Route): Generator<CostlyBody> {
  const { isStreamed = false, byteTypes, maxBodyBytes = mebibyte, maxBodyValues = maxJsonValues } = route
  const bytes = (isStreamed ? 10 * mebibyte : maxBodyBytes) - aroundBytes
  if (isStreamed || byteTypes) yield* fileBodies(byteTypes?.[0] ?? 'text/csv', bytes)
  else {
    const size = { bytes, values: maxBodyValues - 100 }
    yield* jsonBodies(route, size)
    yield* formBodies(Math.min(bytes, mebibyte - aroundBytes))
    for (const type of route.textTypes ?? []) yield* textBodies(type, bytes)
  }
  yield* multipartBodies(bytes)
}

function toBody(
  name: string,
  contentType: string,
  bytes: Buffer,
  dialect: CostlyBody['dialect'] = 'documented'
): CostlyBody {
  return { name, dialect, contentType, bytes }
}

function* fileBodies(type: string, bytes: number): Generator<CostlyBody> {
  const files = {
    commas: () => ','.repeat(bytes),
    'line breaks': () => '\n'.repeat(bytes),
    lines: () => `path,title\n${repeat({ bytes }, index => `${index},a`, { separator: '\n' })}`,
    ...Object.fromEntries(
      ['path', 'unique_id'].map(name => [`quotes as ${name}`, () => longCells(name, bytes)])
    ),
    'more than fits into memory': () => Buffer.alloc(4 * bytes, 'a')
  }
  for (const [name, make] of Object.entries(files))
    yield toBody(name, type, remember(`file of ${name}`, { bytes }, make))
  const upload = () => `{"path":"a.mp3","file":"${'A'.repeat(bytes)}"}`
  yield toBody('keys', json, jsonValue('keys', { bytes, values: Infinity }))
  yield toBody('a text', json, remember('upload', { bytes }, upload))
}

/** Lines of one cell that is as long as a line may be. */
const longCells = (column: string, bytes: number) =>
  `${column}\n${repeat({ bytes }, () => `"${'""'.repeat(128_000)}"`, { separator: '\n' })}`

const jsonKinds: readonly ValueKind[] = [
  'keys',
  'names',
  'zeros',
  'objects',
  'empty texts',
  'lists',
  'texts that are not UTF-8',
  'a number',
  'a key',
  'blanks',
  'text',
  'commas',
  'escapes',
  'space'
]

function* jsonBodies(route: Route, size: BodySize): Generator<CostlyBody> {
  for (const kind of jsonKinds) yield toBody(kind, json, jsonValue(kind, size))
  yield toBody('too many keys', json, jsonValue('keys', { ...size, values: Infinity }))
  yield* fieldBodies(route, size)
}

/** Bodies that pass as far as they can: the example of the route, with one field that is as large as possible. */
function* fieldBodies({ operation }: Pick<Route, 'operation'>, size: BodySize): Generator<CostlyBody> {
  for (const schema of listSchemaAndAlternatives(operation?.body)) {
    if (schema['items'] !== undefined) yield* listBodies('items', schema, size, value => value)
    if (!isObjectOrArray(schema['properties'])) continue
    const [example] = Array.isArray(schema['examples']) ? schema['examples'] : [{}]
    for (const [name, field] of Object.entries(schema['properties'])) {
      const others = Object.entries(isObjectOrArray(example) ? example : {})
        .filter(([other]) => other !== name)
        .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)},`)
      const start = Buffer.from(`{${others.join('')}${JSON.stringify(name)}:`)
      const wrap = (value: Buffer) => Buffer.concat([start, value, Buffer.from('}')])
      const types = new Set(listSchemaAndAlternatives(field).flatMap(({ type = [] }) => type))
      if (types.has('array')) yield* listBodies(name, field, size, wrap)
      const kinds = [
        ...(types.has('object') ? (['keys', 'names'] as const) : []),
        ...(types.has('string') ? (['blanks', 'text', 'commas', 'escapes'] as const) : [])
      ]
      for (const kind of kinds) yield toBody(`${name}: ${kind}`, json, wrap(jsonValue(kind, size)))
    }
  }
}

function* listBodies(
  name: string,
  list: unknown,
  size: BodySize,
  wrap: (value: Buffer) => Buffer
): Generator<CostlyBody> {
  const kinds = ['zeros', 'objects', 'empty texts', 'numbers', 'texts', 'names'] as const
  for (const kind of kinds) yield toBody(`${name}: ${kind}`, json, wrap(jsonValue(kind, size)))
  yield toBody(`${name}: as described`, json, wrap(Buffer.from(sampleOf(list, size))))
  const items = listSchemaAndAlternatives(list).flatMap(each => listSchemaAndAlternatives(each['items']))
  for (const { properties } of items) {
    if (!isObjectOrArray(properties)) continue
    const members = Object.keys(properties).map(each => `${JSON.stringify(each)}:0`)
    const records = repeat(size, () => `{${members.join(',')}}`, { values: 1 + members.length })
    yield toBody(`${name}: records`, json, wrap(Buffer.from(`[${records}]`)))
  }
}

function* formBodies(bytes: number): Generator<CostlyBody> {
  const forms = {
    fields: () => repeat({ bytes }, () => 'a', { separator: '&' }),
    members: () => repeat({ bytes }, index => `a[${index}][b]=`, { separator: '&' }),
    brackets: () => `a${'[a]'.repeat(bytes / 3)}=`,
    escapes: () => `a=${'%41'.repeat(bytes / 3)}`,
    'escapes that are not UTF-8': () => `a=${'%E9'.repeat(bytes / 3)}`
  }
  for (const [name, make] of Object.entries(forms))
    yield toBody(name, formContentType, remember(`form of ${name}`, { bytes }, make), 'azuracast')
}

function* textBodies(type: string, bytes: number): Generator<CostlyBody> {
  const lines = (piece: (index: number) => string) => repeat({ bytes }, piece, { separator: '\n' })
  const texts = {
    'line breaks': () => '\n'.repeat(bytes),
    'short lines': () => lines(() => 'a'),
    'one line': () => 'a'.repeat(bytes),
    'lines that are not UTF-8': () =>
      Buffer.from(
        lines(index => `\xe9${index}.mp3`),
        'latin1'
      ),
    entries: () => `#EXTM3U\n${lines(index => `#EXTINF:1,a - b\n${index}.mp3`)}`,
    'numbered entries': () => `[playlist]\n${lines(index => `File${index}=${index}`)}`
  }
  for (const [name, make] of Object.entries(texts))
    yield toBody(name, type, remember(`text of ${name}`, { bytes }, make))
}

const part = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n`

function* multipartBodies(bytes: number): Generator<CostlyBody> {
  const forms = {
    parts: () => repeat({ bytes }, index => part(index.toString(36)), { separator: '' }),
    boundaries: () => repeat({ bytes }, () => `--${boundary}\r\n`, { separator: '' }),
    'line breaks in a part': () => `${part('a')}${'\r\n'.repeat(bytes / 2)}`
  }
  for (const [name, make] of Object.entries(forms))
    yield toBody(name, multipart, remember(`parts of ${name}`, { bytes }, make), 'azuracast')
}
