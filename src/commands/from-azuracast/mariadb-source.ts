import mysql from 'mysql2'
import type { RowDataPacket } from 'mysql2/promise'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { AzuracastSource, SourceRow, SourceTable } from './source.ts'
import { isUsableId } from './usable-values.ts'

const connectMs = 10_000
const rowsPerBatch = 2_000

/** A connection to a MariaDB. Disposing it ends the connection. */
export interface OpenedMariadbSource extends AsyncDisposable {
  readonly source: AzuracastSource
}

/**
 * Opens the database of a running AzuraCast, as of now: all reads see one snapshot, and nothing is written. `url` is
 * `mysql://user:password@host:port/database` or `mariadb://...`.
 */
export async function openMariadbSource(url: string, signal: AbortSignal): Promise<OpenedMariadbSource> {
  const address = new URL(url)
  const description = `${address.host}${address.pathname}`
  const opened = mysql.createConnection({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    charset: 'utf8mb4',
    connectTimeout: connectMs,
    dateStrings: true,
    // As text, like a dump.
    typeCast: field => field.string()
  })
  const connection = opened.promise()
  try {
    await connection.connect().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new OperatorError(`the MariaDB at ${description} does not answer: ${reason}`, { cause: error })
    })
    await connection.query(`set time_zone = '+00:00'`)
    await connection.query('set transaction isolation level repeatable read')
    await connection.query('start transaction with consistent snapshot, read only')
    const tables = await readSourceTables(async (statement, values) => {
      const [rows] = await connection.query<RowDataPacket[]>(statement, values)
      return rows
    })
    if (!tables.has('station') || !tables.has('settings'))
      throw new OperatorError(
        `the database ${description} is not of AzuraCast: it has no tables station and settings`
      )
    const source: AzuracastSource = {
      description,
      tables,
      missing: [],
      notUtf8: new Map(),
      async *rows(name) {
        const table = tables.get(name)
        if (!table) return
        const names = table.columns.map(quote).join(', ')
        const order = table.columns.includes('id') ? 'order by id' : ''
        const stream = opened
          .query({ sql: `select ${names} from ${quote(name)} ${order}`, rowsAsArray: true })
          .stream()
        let batch: SourceRow[] = []
        for await (const row of stream) {
          signal.throwIfAborted()
          batch.push(row)
          if (batch.length < rowsPerBatch) continue
          yield batch
          batch = []
        }
        if (batch.length > 0) yield batch
      }
    }
    return {
      source,
      async [Symbol.asyncDispose]() {
        opened.destroy()
      }
    }
  } catch (error) {
    opened.destroy()
    throw error
  }
}

const quote = (name: string) => `\`${name.replaceAll('`', '``')}\``

type Query = (statement: string, values?: unknown[]) => Promise<RowDataPacket[]>

async function readSourceTables(query: Query): Promise<Map<string, SourceTable>> {
  const columns = await query(
    `select table_name as name, column_name as column_name from information_schema.columns
     where table_schema = database() order by table_name, ordinal_position`
  )
  const byTable = new Map<string, string[]>()
  for (const row of columns) {
    const name = String(row['name'])
    byTable.set(name, [...(byTable.get(name) ?? []), String(row['column_name'])])
  }
  const tables = new Map<string, SourceTable>()
  for (const [name, names] of byTable) {
    const highest = names.includes('id') ? 'max(id)' : 'null'
    const [counts] = await query(`select count(*) as \`rows\`, ${highest} as highest from ${quote(name)}`)
    const maxId = Number(counts?.['highest'])
    tables.set(name, {
      name,
      columns: names,
      rows: Number(counts?.['rows']),
      maxId: isUsableId(maxId) ? maxId : 0
    })
  }
  return tables
}
