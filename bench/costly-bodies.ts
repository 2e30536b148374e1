import type { ApiRoute } from '../src/api/core/route.ts'
import type { apiRoutes } from '../src/api/routes.ts'
import type { JsonSchema } from '../src/fields/field.ts'
import { alternativesOf, isObject } from '../src/fields/schema-alternatives.ts'

type Route = (typeof apiRoutes)[number]

/** A body of the largest size that its route takes, of a shape that costs more than others. */
export interface CostlyBody {
  readonly name: string
  readonly dialect: 'documented' | 'azuracast'
  readonly contentType: string
  readonly bytes: Buffer
}

const mebibyte = 1024 * 1024
const json = 'application/json'
const boundary = 'x'
const multipart = `multipart/form-data; boundary=${boundary}`

/** Repeats pieces up to a size. */
function fill(bytes: number, piece: (index: number) => string, separator = ','): string {
  const parts: string[] = []
  for (let size = 0, index = 0; ; index++) {
    const part = piece(index)
    size += part.length + separator.length
    if (size > bytes) return parts.join(separator)
    parts.push(part)
  }
}

const list = (piece: string) => (bytes: number) => `[${fill(bytes, () => piece)}]`
const nested = `${'['.repeat(60)}${']'.repeat(60)}`

/** Values of a field, of a size. */
const values: Readonly<Record<string, (bytes: number) => string>> = {
  keys: bytes => `{${fill(bytes, index => `"${index.toString(36)}":0`)}}`,
  zeros: list('0'),
  objects: list('{}'),
  'empty texts': list('""'),
  lists: list(nested),
  blanks: bytes => `"${' '.repeat(bytes - 1)}x"`,
  text: bytes => `"${'é'.repeat(bytes / 2)}"`,
  commas: bytes => `"${','.repeat(bytes)}"`
}

const part = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n`

/** The costliest bodies of a route; none for one without a body. */
export function* costlyBodies(route: Route): Generator<CostlyBody> {
  const { isStreamed, textTypes = [], byteTypes = [] } = route
  const bytes = (isStreamed ? 10 * mebibyte : (route.maxBodyBytes ?? mebibyte)) - 2_048
  const body = (
    name: string,
    contentType: string,
    text: string,
    dialect: CostlyBody['dialect'] = 'documented'
  ) => ({
    name,
    dialect,
    contentType,
    bytes: Buffer.from(text)
  })
  if (isStreamed || byteTypes.length > 0) {
    yield body('commas', byteTypes[0] ?? 'text/csv', ','.repeat(bytes))
    yield body('line breaks', byteTypes[0] ?? 'text/csv', '\n'.repeat(bytes))
    yield body('lines', byteTypes[0] ?? 'text/csv', `path,title\n${fill(bytes, index => `${index},a`, '\n')}`)
    yield body('keys', json, values['keys']?.(bytes) ?? '')
    yield body('a text', json, `{"path":"a.mp3","file":"${'A'.repeat(bytes)}"}`)
  } else {
    for (const [name, value] of Object.entries(values)) yield body(name, json, value(bytes))
    yield* fieldBodies(route, bytes)
    yield body(
      'fields',
      'application/x-www-form-urlencoded',
      fill(bytes, () => 'a', '&'),
      'azuracast'
    )
    yield body(
      'members',
      'application/x-www-form-urlencoded',
      fill(bytes, index => `a[${index}][b]=`, '&'),
      'azuracast'
    )
    yield body('brackets', 'application/x-www-form-urlencoded', `a${'[a]'.repeat(bytes / 3)}=`, 'azuracast')
    yield body('escapes', 'application/x-www-form-urlencoded', `a=${'%41'.repeat(bytes / 3)}`, 'azuracast')
    for (const type of textTypes) {
      yield body('line breaks', type, '\n'.repeat(bytes))
      yield body(
        'short lines',
        type,
        fill(bytes, () => 'a', '\n')
      )
      yield body('one line', type, 'a'.repeat(bytes))
      yield body('entries', type, `#EXTM3U\n${fill(bytes, index => `#EXTINF:1,a - b\n${index}.mp3`, '\n')}`)
      yield body(
        'numbered entries',
        type,
        `[playlist]\n${fill(bytes, index => `File${index}=${index}`, '\n')}`
      )
    }
  }
  yield body(
    'parts',
    multipart,
    fill(bytes, index => part(index.toString(36)), ''),
    'azuracast'
  )
  yield body(
    'boundaries',
    multipart,
    fill(bytes, () => `--${boundary}\r\n`, ''),
    'azuracast'
  )
  yield body('line breaks in a part', multipart, `${part('a')}${'\r\n'.repeat(bytes / 2)}`, 'azuracast')
}

/** Bodies that pass as far as they can: the example of the route, with one field that is as large as possible. */
function* fieldBodies(
  { operation }: Pick<ApiRoute, 'operation'> | Route,
  bytes: number
): Generator<CostlyBody> {
  const schemas = alternativesOf(operation?.body)
  for (const schema of schemas) {
    const items = alternativesOf(schema['items'])
    if (items.length > 0) yield* listBodies('items', items, bytes, value => value)
    if (!isObject(schema['properties'])) continue
    const [example] = Array.isArray(schema['examples']) ? schema['examples'] : [{}]
    for (const [name, field] of Object.entries(schema['properties'])) {
      const others = Object.entries(isObject(example) ? example : {}).filter(([other]) => other !== name)
      const start = others
        .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)},`)
        .join('')
      const wrap = (value: string) => `{${start}${JSON.stringify(name)}:${value}}`
      const size = bytes - start.length
      const alternatives = alternativesOf(field)
      const types = new Set(alternatives.flatMap(({ type = [] }) => type))
      if (types.has('array'))
        yield* listBodies(
          name,
          alternatives.flatMap(each => alternativesOf(each['items'])),
          size,
          wrap
        )
      if (types.has('object')) yield named(`${name}: keys`, wrap(values['keys']?.(size) ?? ''))
      if (types.has('string'))
        for (const kind of ['blanks', 'text', 'commas'])
          yield named(`${name}: ${kind}`, wrap(values[kind]?.(size) ?? ''))
    }
  }
}

function* listBodies(
  name: string,
  items: readonly JsonSchema[],
  bytes: number,
  wrap: (value: string) => string
): Generator<CostlyBody> {
  for (const kind of ['zeros', 'objects', 'empty texts'])
    yield named(`${name}: ${kind}`, wrap(values[kind]?.(bytes) ?? ''))
  yield named(`${name}: numbers`, wrap(`[${fill(bytes, String)}]`))
  yield named(`${name}: texts`, wrap(`[${fill(bytes, index => `"${index}"`)}]`))
  for (const { properties } of items)
    if (isObject(properties)) {
      const member = Object.keys(properties).map(each => `${JSON.stringify(each)}:0`)
      yield named(`${name}: records`, wrap(`[${fill(bytes, () => `{${member.join(',')}}`)}]`))
    }
}

const named = (name: string, text: string): CostlyBody => ({
  name,
  dialect: 'documented',
  contentType: json,
  bytes: Buffer.from(text)
})
