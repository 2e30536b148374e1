import { listMigrations } from '../db/migrate.ts'
import { checkPostgres, type Sql } from '../db/sql.ts'
import { version } from '../runtime/program-files.ts'
import { isKeyOfDatabase, readSecretsKey } from '../security/secrets-key.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

/** Processes report themselves every few seconds. */
const aliveSeconds = 15
/** A server process and a workers process. */
const fewConnections = 50

interface KeyPlace {
  readonly DATA_DIR: string
  readonly SECRETS_KEY?: string | undefined
}

/** Checks the server, its settings, the schema, the secrets key and the running processes. */
export async function* checkDatabase(sql: Sql, place: KeyPlace): AsyncGenerator<Finding> {
  const fault = await checkPostgres(sql).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )
  if (fault !== null) {
    yield problem('Postgres', fault, 'start Postgres, or correct DATABASE_URL')
    return
  }
  yield await checkSettings(sql)
  const migrations = await checkMigrations(sql)
  yield migrations
  if (migrations.status === 'problem') return
  yield await checkKey(sql, place)
  yield await checkProcesses(sql)
}

async function checkSettings(sql: Sql): Promise<Finding> {
  const [row] = await sql<
    {
      version: string
      connections: number
      fsync: string
      commit: string
      isReadOnly: boolean
      encoding: string
    }[]
  >`
    select current_setting('server_version') as version, current_setting('max_connections')::int as connections,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      pg_is_in_recovery() as "isReadOnly", current_setting('server_encoding') as encoding`
  if (!row) throw new Error('Postgres has not answered')
  const { connections, fsync, commit, isReadOnly, encoding } = row
  const name = `version ${row.version}`
  if (isReadOnly)
    return problem('Postgres', `${name}, a read-only standby`, 'set DATABASE_URL to the primary')
  if (encoding !== 'UTF8')
    return problem('Postgres', `${name}, encoding ${encoding}`, 'create the database with the encoding UTF8')
  if (fsync === 'off' || commit === 'off')
    return warning(
      'Postgres',
      `${name}, ${fsync === 'off' ? 'fsync' : 'synchronous_commit'} is off`,
      'set it to on: otherwise a power failure loses writes that were answered'
    )
  if (connections < fewConnections)
    return warning(
      'Postgres',
      `${name}, max_connections is ${connections}`,
      `raise it: a server process uses up to 25 connections, a workers process 12`
    )
  return ok('Postgres', `${name}, ${connections} connections`)
}

async function checkMigrations(sql: Sql): Promise<Finding> {
  const [table] = await sql<{ isThere: boolean }[]>`select to_regclass('migrations') is not null as "isThere"`
  if (!table?.isThere)
    return problem(
      'schema',
      'the database is empty',
      'start Cuewire, which creates the tables, or restore a backup'
    )
  const rows = await sql<{ name: string }[]>`select name from migrations`
  const known = new Set(await listMigrations())
  const ran = new Set(rows.map(({ name }) => name))
  const newer = [...ran].filter(name => !known.has(name)).toSorted()
  const missing = [...known].filter(name => !ran.has(name))
  const [compatibility] = await sql<{ least: number }[]>`
    select least_migration as least from compatibility`.catch(() => [])
  const newest = Number([...known].at(-1)?.slice(0, 4) ?? 0)
  if (compatibility !== undefined && compatibility.least > newest)
    return problem('schema', `a newer release needs at least ${version}'s successor`, 'run the newer release')
  if (newer.length > 0)
    return warning(
      'schema',
      `a newer release has run ${newer.join(', ')}`,
      'finish the upgrade, or roll it back'
    )
  if (missing.length > 0)
    return warning(
      'schema',
      `${missing.length} migrations of version ${version} have not run`,
      'start a process of this version, which runs them'
    )
  return ok('schema', `up to date (${[...known].at(-1) ?? ''})`)
}

async function checkKey(sql: Sql, { DATA_DIR, SECRETS_KEY }: KeyPlace): Promise<Finding> {
  const key = await readSecretsKey(DATA_DIR, SECRETS_KEY).catch(() => null)
  if (key !== null && (await isKeyOfDatabase(sql, key)))
    return ok('secrets key', 'opens the stored credentials')
  return problem(
    'secrets key',
    key === null
      ? 'neither SECRETS_KEY nor DATA_DIR/secrets-key has a key'
      : 'the stored credentials were sealed with another key',
    'set SECRETS_KEY, or DATA_DIR/secrets-key, to the key of the other processes or of the restored installation; if it is lost, ' +
      'run npm run forget-credentials'
  )
}

async function checkProcesses(sql: Sql): Promise<Finding> {
  const rows = await sql<{ kind: string; versions: string[]; count: number }[]>`
    select kind, array_agg(distinct version order by version) as versions, count(*)::int as count from processes
    where seen_at > clock_timestamp() - make_interval(secs => ${aliveSeconds}) group by kind order by kind`
  const list = rows.map(({ kind, versions, count }) => `${count} ${kind} (${versions.join(', ')})`).join(', ')
  const missing = ['server', 'workers'].filter(kind => !rows.some(row => row.kind === kind))
  if (missing.length > 0)
    return warning(
      'processes',
      `${list === '' ? 'none runs' : list}; no ${missing.join(' and no ')}`,
      missing.includes('workers')
        ? 'start npm run workers: without it songs do not end and web hooks are not sent'
        : 'start npm run server'
    )
  return ok('processes', list)
}
