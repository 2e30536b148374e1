import { listSchemaAndAlternatives, isObjectOrArray } from '../src/model/fields/schema-alternatives.ts'
import type { BodySize } from './costly-values.ts'

/** Renders a value that a schema describes, with lists as long as fit into a size. */
export function sampleOf(schema: unknown, size: BodySize): string {
  let least = 0
  let most = size.values
  while (least < most) {
    const length = Math.ceil((least + most) / 2)
    if (countValues(schema, length) <= size.values) least = length
    else most = length - 1
  }
  for (let length = least; ; length = Math.floor(length * 0.8)) {
    const text = JSON.stringify(sample(schema, length, 0))
    if (text.length <= size.bytes) return text
  }
}

const lengthOf = ({ maxItems }: Readonly<Record<string, unknown>>, length: number) =>
  typeof maxItems === 'number' ? Math.min(length, maxItems) : length

/** The alternative with a list, else the first one with a type. */
function choose(schema: unknown): Readonly<Record<string, unknown>> {
  const alternatives = listSchemaAndAlternatives(schema)
  const rich = alternatives.find(each => each['items'] !== undefined || isObjectOrArray(each['properties']))
  return rich ?? alternatives.find(({ type }) => type !== undefined) ?? {}
}

/** The number of values of a sample whose lists have a length. */
function countValues(schema: unknown, length: number): number {
  const chosen = choose(schema)
  if (chosen['items'] !== undefined)
    return 1 + lengthOf(chosen, length) * countValues(chosen['items'], length)
  const members = isObjectOrArray(chosen['properties']) ? Object.values(chosen['properties']) : []
  return members.reduce<number>((sum, member) => sum + countValues(member, length), 1)
}

function sample(schema: unknown, length: number, index: number): unknown {
  const chosen = choose(schema)
  if (chosen['items'] !== undefined)
    return Array.from({ length: lengthOf(chosen, length) }, (_, at) => sample(chosen['items'], length, at))
  if (isObjectOrArray(chosen['properties']))
    return Object.fromEntries(
      Object.entries(chosen['properties']).map(([name, member]) => [name, sample(member, length, index)])
    )
  const [type] = [chosen['type']].flat()
  if (Array.isArray(chosen['enum'])) return chosen['enum'][0]
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? index + 1 : String(index)
}
