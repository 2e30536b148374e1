import { tables } from './schema.ts'

/** A value of a row. */
export type DumpValue = string | number | boolean | null | Date | object

/** Rows of tables by column; absent columns are NULL, `''` or 0, as the type allows. */
export type DumpRows = Readonly<Record<string, Iterable<Readonly<Record<string, DumpValue>>>>>

const statementBytes = 1_000_000

/** Renders what `mariadb-dump --add-drop-table` writes of a database with the schema of AzuraCast, in parts. */
export function* renderDump(rows: DumpRows): Generator<string> {
  yield '/*M!999999\\- enable the sandbox mode */ \n'
  yield '-- MariaDB dump 10.19-11.4.4-MariaDB, for debian-linux-gnu (x86_64)\n--\n'
  yield '/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;\n'
  yield "/*!40103 SET TIME_ZONE='+00:00' */;\n/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n"
  for (const [name, { columns, key }] of Object.entries(tables)) {
    yield `\n--\n-- Table structure for table \`${name}\`\n--\n\nDROP TABLE IF EXISTS \`${name}\`;\n`
    yield '/*!40101 SET @saved_cs_client     = @@character_set_client */;\n'
    const lines = columns.map(([column, type]) => `  \`${column}\` ${type},\n`).join('')
    yield `CREATE TABLE \`${name}\` (\n${lines}  PRIMARY KEY (\`${key}\`)\n`
    yield ') ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;\n'
    yield* renderRows(name, columns, rows[name] ?? [])
  }
  yield '\n/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n\n-- Dump completed on 2026-11-20  4:00:01\n'
}

type Columns = readonly (readonly [name: string, type: string])[]

function* renderRows(name: string, columns: Columns, rows: DumpRows[string]): Generator<string> {
  let part = ''
  for (const row of rows ?? []) {
    const values = columns.map(([column, type]) => renderValue(row[column] ?? null, type)).join(',')
    if (part === '')
      part = `\nLOCK TABLES \`${name}\` WRITE;\n/*!40000 ALTER TABLE \`${name}\` DISABLE KEYS */;\nINSERT INTO \`${name}\` VALUES\n(${values})`
    else part += `,\n(${values})`
    if (part.length < statementBytes) continue
    yield `${part};\n`
    part = ''
  }
  if (part !== '') yield `${part};\n/*!40000 ALTER TABLE \`${name}\` ENABLE KEYS */;\nUNLOCK TABLES;\n`
}

function renderValue(value: DumpValue, type: string): string {
  if (value === null) return renderDefault(type)
  if (typeof value === 'number') return type.startsWith('decimal') ? value.toFixed(2) : String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value instanceof Date) {
    const text = value.toISOString().replace('T', ' ')
    return type.startsWith('datetime(6)') ? `'${text.slice(0, 23)}000'` : `'${text.slice(0, 19)}'`
  }
  return `'${escapeText(typeof value === 'string' ? value : JSON.stringify(value))}'`
}

function renderDefault(type: string): string {
  if (!type.includes('NOT NULL')) return 'NULL'
  return /^(?:varchar|longtext|char)/.test(type) ? "''" : '0'
}

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\u001A': '\\Z',
  "'": "\\'",
  '"': '\\"',
  '\\': '\\\\'
}

/** Escapes like `mysql_real_escape_string`. */
export const escapeText = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- NUL and Ctrl-Z are escaped
  text.replace(/[\0\n\r\u001A'"\\]/g, character => escapes[character] ?? character)
