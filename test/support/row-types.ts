import type { Sql } from '../../src/stores/db/sql.ts'
import type { Statement } from './statements.ts'

interface PostgresType {
  readonly oid: number
  readonly name: string
  /** `A` for arrays, `B` for booleans, `D` for times, `N` for numbers. */
  readonly category: string
  /** The category of the elements of an array. */
  readonly elements: string | null
}

/** Values as Postgres sends them, by category. */
const samples: Readonly<Record<string, string>> = { B: 't', D: '2026-01-01 00:00:00+00', N: '1' }

/** What the parser of a type makes of a value. */
function kindOf({ name, category, elements }: PostgresType, parse = (text: string): unknown => text): string {
  if (name.startsWith('json')) return 'json'
  const sample = samples[elements ?? category] ?? '\\x00'
  // Parsers of arrays get the text after the first brace.
  const value = parse(category === 'A' ? `${sample}}` : sample)
  return Array.isArray(value) ? `${nameOf(value[0])}[]` : nameOf(value)
}

const nameOf = (value: unknown) =>
  value instanceof Date ? 'Date' : value instanceof Uint8Array ? 'Uint8Array' : typeof value

const fits = (kind: string, declared: string) =>
  declared === kind ||
  declared === 'unknown' ||
  (kind === 'json' && !/^(Date|Uint8Array|any)$/.test(declared))

interface Plan {
  readonly 'Join Type'?: string
  readonly Output?: readonly string[]
  readonly Plans?: readonly Plan[]
}

/** The outputs that an outer join may make null. */
function outerOutputs({ 'Join Type': join = '', Plans: plans = [] }: Plan): string[] {
  const [left, right] = plans
  return [
    ...(/Left|Full/.test(join) ? (right?.Output ?? []) : []),
    ...(/Right|Full/.test(join) ? (left?.Output ?? []) : []),
    ...plans.flatMap(outerOutputs)
  ]
}

interface Described {
  readonly place: string
  readonly differences: readonly string[]
  /** Why it could not be described: expressions that are no parameters, or a table that only its session has. */
  readonly unknown: readonly string[]
}

/** Returns a function that describes how the columns of a statement differ from its declared row, without running it. */
export async function openRowTypes(sql: Sql) {
  const types = await sql<PostgresType[]>`
    select t.oid, t.typname as name, t.typcategory as category, e.typcategory as elements
    from pg_type t left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'`
  const typesById = new Map(types.map(type => [type.oid, type]))
  const nullable = await sql<{ table: number; number: number; name: string }[]>`
    select attrelid as table, attnum as number, attname as name
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where not attnotnull and attnum > 0 and relkind in ('r', 'p')`
  // Before Postgres 16, columns of outer joins are not known.
  const [server] = await sql<
    { version: number }[]
  >`select current_setting('server_version_num')::int as version`
  const hasGenericPlans = (server?.version ?? 0) >= 160_000
  const nullableNames = new Map(nullable.map(({ table, number, name }) => [`${table} ${number}`, name]))

  /** Which columns may be null: those of tables that may, unless a condition excludes it, and those of outer joins. */
  async function findNullable(text: string, found: readonly { table: number; number: number }[]) {
    const [explained] = hasGenericPlans
      ? await sql.unsafe(`explain (generic_plan, verbose, format json) ${text}`)
      : []
    const plan: Plan = explained?.['QUERY PLAN'][0].Plan ?? {}
    const outer = new Set(outerOutputs(plan))
    return found.map(({ table, number }, index) => {
      const name = nullableNames.get(`${table} ${number}`)
      const isExcluded = new RegExp(`\\b${name}"? (is not null|= any|[<>])`).test(text)
      return (name !== undefined && !isExcluded) || outer.has(plan.Output?.[index] ?? '')
    })
  }

  async function compare({ text, parameters, columns }: Statement): Promise<string[]> {
    const nulls = parameters.map(() => null)
    const { columns: found } = await sql.unsafe(text, nulls).describe()
    const mayBeNull = await findNullable(text, found)
    const names = new Set(found.map(({ name }) => name))
    const missing = [...columns].filter(([name, { isOptional }]) => !isOptional && !names.has(name))
    const wrong = found.flatMap(({ name, type: id, parser }, index) => {
      const declared = columns.get(name)
      if (!declared) return [`${name} is not declared`]
      const type = typesById.get(id)
      const kind = type ? kindOf(type, parser) : ''
      return [
        ...(declared.kinds.every(each => fits(kind, each))
          ? []
          : [`${name} is ${type?.name}, declared as ${declared.kinds.join(' | ')}`]),
        ...(mayBeNull[index] && !declared.isNullable ? [`${name} may be null`] : [])
      ]
    })
    return [...missing.map(([name]) => `${name} is no column`), ...wrong]
  }

  return async (statement: Statement): Promise<Described> => {
    const { place, parameters, unknown } = statement
    if (unknown.length > 0) return { place, differences: [], unknown }
    try {
      const differences = await compare(statement)
      return { place, differences: differences.map(each => `${place}: ${each}`), unknown }
    } catch (error) {
      const [, number, table] =
        /at or near "\$(\d+)"$|relation "(.*)" does not exist$/.exec(String(error)) ?? []
      const cause = number === undefined ? table : parameters[Number(number) - 1]
      return cause === undefined
        ? { place, differences: [`${place}: ${String(error)}`], unknown }
        : { place, differences: [], unknown: [cause] }
    }
  }
}
