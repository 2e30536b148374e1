import type { Tx } from '../../stores/db/sql.ts'

/** A row by column. Bytes are text in hexadecimal with `\x`, times in ISO 8601. */
export type RowToInsert = Readonly<Record<string, unknown>>

/**
 * Inserts rows with the same columns, with their ids. Returns how many were new. Leaves out rows that refer to records
 * that do not exist any more: `references` are the tables of columns. Leaves out NUL in text, which Postgres does not
 * store.
 */
export async function insertRows(
  tx: Tx,
  table: string,
  rows: readonly RowToInsert[],
  references: Readonly<Record<string, string>> = {}
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  // The helper for names takes a list in this place for rows.
  const columns = tx.unsafe(
    Object.keys(first)
      .map(name => `"${name}"`)
      .join(', ')
  )
  const exist = Object.entries(references).map(
    ([column, target]) => tx`and (select true from ${tx(target)} t where t.id = r.${tx(column)} limit 1)`
  )
  const { count } = await tx`
    insert into ${tx(table)} (${columns}) overriding system value
    select ${columns} from jsonb_populate_recordset(null::${tx(table)}, ${JSON.stringify(rows, withoutNul)}::text::jsonb) r
    where true ${exist.reduce((all, each) => tx`${all} ${each}`, tx``)}
    on conflict do nothing`
  return count
}

const withoutNul = (_name: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', '') : value
