import type { JsonSchema } from '../../model/fields/field.ts'
import type { DialectContext, JsonBody, RecordDialect } from './record-dialect.ts'
import { schemaChanger, memberSchema, schemaReplacer } from './response-schema.ts'

/** What the values of members are made of, beside the documented record. */
type MemberContext<Extras> = DialectContext & {
  /** What was read for all records of the page. */
  readonly extras: Extras
}

/** A schema, or what makes it of that of the documented member. */
type MemberSchema = JsonSchema | ((documented: JsonSchema) => JsonSchema)

/** A member of a record in the dialect. */
interface Member<Row, Extras> {
  readonly schema: MemberSchema
  valueOf(row: Row, context: MemberContext<Extras>): unknown
  /** Whether a body may repeat it, without an effect, as it may repeat computed fields. */
  readonly isComputed?: boolean
  /** The value of a member that has no effect. A body may repeat it; other values are named as ignored. */
  readonly constant?: { readonly value: unknown }
}

/** A documented member that is shown in another form, or one that bodies do not have. */
export const shownMember = <Row, Extras>(
  schema: MemberSchema,
  valueOf: Member<Row, Extras>['valueOf']
): Member<Row, Extras> => ({ schema, valueOf })

/** A member that AzuraCast computes. */
export const computedMember = <Row, Extras>(
  schema: MemberSchema,
  valueOf: Member<Row, Extras>['valueOf']
): Member<Row, Extras> => ({ schema, valueOf, isComputed: true })

/** A member without an effect. */
export const constantMember = <Row, Extras>(schema: MemberSchema, value: unknown): Member<Row, Extras> => ({
  schema,
  valueOf: () => value,
  constant: { value }
})

/** The schema of a member that has that of the documented one. */
export const keepDocumentedSchema = (documented: JsonSchema): JsonSchema => documented

type Members<Row, Extras> = Readonly<Record<string, Member<Row, Extras>>>

interface Declaration<Row extends object, Extras> extends Pick<
  RecordDialect<Row>,
  'constants' | 'fields' | 'parse'
> {
  /** By name, in the order in which they are shown. */
  readonly members: Members<Row, Extras>
  /** Reads what the documented records lack, once for all of a page. */
  read?(rows: readonly Row[], context: DialectContext): Extras | Promise<Extras>
}

interface Change<Row extends object, Extras> extends Declaration<Row, Extras> {
  /** Documented texts that are null if they are empty. */
  readonly emptyAsNull?: readonly (keyof Row & string)[]
}

/** Declares a record that has the documented members too, unless `members` has one of the same name. */
export function declareChangedRecord<Row extends object, Extras = undefined>({
  emptyAsNull = [],
  ...declared
}: Change<Row, Extras>): RecordDialect<Row> {
  const base = (row: Row) => ({
    ...row,
    ...Object.fromEntries(emptyAsNull.map(name => [name, row[name] === '' ? null : row[name]]))
  })
  return {
    ...declareBody(declared),
    response: documented =>
      schemaChanger({ nullable: emptyAsNull, fields: schemasOf(declared.members, documented) })(documented),
    render: openRender(declared, base)
  }
}

/** Declares a record that has exactly these members. */
export function declareReplacedRecord<Row extends object, Extras = undefined>(
  declared: Declaration<Row, Extras>
): RecordDialect<Row> {
  return {
    ...declareBody(declared),
    response: documented => schemaReplacer(schemasOf(declared.members, documented))(documented),
    render: openRender(declared, () => ({}))
  }
}

function schemasOf<Row, Extras>(members: Members<Row, Extras>, documented: JsonSchema) {
  return Object.fromEntries(
    Object.entries(members).map(([name, { schema }]) => [
      name,
      typeof schema === 'function' ? schema(memberSchema(documented, name)) : schema
    ])
  )
}

/** What bodies with the record may have. */
function declareBody<Row extends object, Extras>({
  members,
  constants,
  fields,
  parse
}: Declaration<Row, Extras>) {
  const entries = Object.entries(members)
  const names = entries.filter(([, { isComputed }]) => isComputed).map(([name]) => name)
  const own = entries.flatMap(([name, { constant: found }]) => (found ? [[name, found.value] as const] : []))
  return {
    ...(names.length > 0 && { computed: names }),
    ...((constants || own.length > 0) && {
      constants: (body: JsonBody) => ({ ...Object.fromEntries(own), ...constants?.(body) })
    }),
    ...(fields && { fields }),
    ...(parse && { parse })
  }
}

/** Returns the function that renders records: their members, beside what `base` returns. */
const openRender =
  <Row extends object>(
    { members, read }: Pick<Declaration<Row, unknown>, 'members' | 'read'>,
    base: (row: Row) => object
  ) =>
  async (rows: readonly Row[], context: DialectContext): Promise<readonly object[]> => {
    const entries = Object.entries(members)
    const withExtras = { ...context, extras: await read?.(rows, context) }
    return rows.map(row => ({
      ...base(row),
      ...Object.fromEntries(entries.map(([name, member]) => [name, member.valueOf(row, withExtras)]))
    }))
  }
