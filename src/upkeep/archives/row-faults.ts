import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql } from '../../stores/db/sql.ts'

/**
 * Turns an error of Postgres about a row, such as a violated constraint, into one line that names table and column.
 * Returns every other error as it is. `sql` reads the columns of a constraint.
 */
export async function explainRowFault(sql: Sql, error: unknown): Promise<unknown> {
  if (error instanceof OperatorError || !(error instanceof Error) || !/^2[23]/.test(errorCodeOf(error)))
    return error
  const text = (name: string) => {
    const value: unknown = Reflect.get(error, name)
    return typeof value === 'string' ? value : ''
  }
  const [, isNewId, table = ''] = /^(?:staged_|(new_ids_))?(.*)$/.exec(text('table_name')) ?? []
  const constraint = text('constraint_name')
  const detail = text('detail')
  const named = text('column_name') || (/^Key \((.+?)\)=/.exec(detail)?.[1] ?? '')
  const columns = isNewId === undefined ? named || (await findColumns(sql, constraint).catch(() => '')) : 'id'
  const place = [table, columns].filter(part => part !== '').join('.') || 'a row'
  const reason = constraint === '' ? error.message : `${error.message}${detailOf(detail)}`
  return new OperatorError(`${place} is not accepted: ${oneLine(reason)}`, { cause: error })
}

/** The violating values, without the row. */
const detailOf = (detail: string) => (detail.startsWith('Failing row') || detail === '' ? '' : ` (${detail})`)

const maxLength = 400
const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, maxLength)

/** The columns of a constraint, separated by commas; empty for an unknown one. */
async function findColumns(sql: Sql, constraint: string): Promise<string> {
  if (constraint === '') return ''
  const [found] = await sql<{ columns: string }[]>`
    select string_agg(a.attname, ', ' order by a.attnum) as columns
    from (
      select conrelid as relation, conkey::int2[] as keys from pg_constraint where conname = ${constraint}
      union all
      select indrelid, indkey::int2[] from pg_index where indexrelid = to_regclass(quote_ident(${constraint}))
      limit 1
    ) c join pg_attribute a on a.attrelid = c.relation and a.attnum = any(c.keys)`
  return found?.columns ?? ''
}
