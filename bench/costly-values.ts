/** The most of a value. */
export interface BodySize {
  readonly bytes: number
  /** Elements and members, at any depth; an array or object in a list counts as one more. */
  readonly values: number
}

/** Repeats pieces up to a size. `values`: those of a piece. */
export function repeat(
  { bytes, values = Infinity }: Partial<BodySize> & Pick<BodySize, 'bytes'>,
  piece: (index: number) => string,
  { separator = ',', values: each = 1 }: { readonly separator?: string; readonly values?: number } = {}
): string {
  const parts: string[] = []
  for (let length = 0, index = 0; ; index++) {
    const part = piece(index)
    length += part.length + separator.length
    if (length > bytes || (index + 1) * each > values) return parts.join(separator)
    parts.push(part)
  }
}

const list =
  (piece: string, values = 1) =>
  (size: BodySize) =>
    `[${repeat(size, () => piece, { values })}]`
const depth = 60
const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`
const membersPerObject = 10

/** Objects whose names are all different: V8 makes a hidden class for each of them. */
function renderNames(size: BodySize): string {
  const object = (index: number) => {
    const names = Array.from({ length: membersPerObject }, (_, at) =>
      (index * membersPerObject + at).toString(36)
    )
    return `{${names.map(name => `"${name}":0`).join(',')}}`
  }
  return `[${repeat(size, object, { values: 1 + membersPerObject })}]`
}

const kinds = {
  keys: size => `{${repeat(size, index => `"${index.toString(36)}":0`)}}`,
  names: renderNames,
  zeros: list('0'),
  objects: list('{}', 2),
  'empty texts': list('""'),
  numbers: size => `[${repeat(size, String)}]`,
  texts: size => `[${repeat(size, index => `"${index}"`)}]`,
  lists: list(nested, depth + 1),
  'a number': ({ bytes }) => '1'.repeat(bytes),
  'a key': ({ bytes }) => `{"${'\\n'.repeat(bytes / 2)}":0}`,
  blanks: ({ bytes }) => `"${' '.repeat(bytes - 1)}x"`,
  text: ({ bytes }) => `"${'é'.repeat(bytes / 2)}"`,
  commas: ({ bytes }) => `"${','.repeat(bytes)}"`,
  escapes: ({ bytes }) => `"${'\\"'.repeat(bytes / 2)}"`,
  space: ({ bytes }) => `[${' '.repeat(bytes)}]`,
  'texts that are not UTF-8': size => Buffer.from(list('"\xe9"')(size), 'latin1')
} satisfies Readonly<Record<string, (size: BodySize) => string | Buffer>>

export type ValueKind = keyof typeof kinds

/** Contents as large as the last ones of their keys are not made again: that takes longer than sending them. */
const latest = new Map<string, { readonly size: string; readonly content: Buffer }>()

/** Returns what `make` returned for a key and a size, as UTF-8 unless it made bytes. */
export function remember(
  key: string,
  { bytes, values = Infinity }: Partial<BodySize> & Pick<BodySize, 'bytes'>,
  make: () => string | Buffer
): Buffer {
  const size = `${bytes} ${values}`
  const known = latest.get(key)
  if (known?.size === size) return known.content
  const content = Buffer.from(make())
  latest.set(key, { size, content })
  return content
}

/** A costly JSON value of a size. */
export const jsonValue = (kind: ValueKind, size: BodySize): Buffer =>
  remember(`JSON of ${kind}`, size, () => kinds[kind](size))
