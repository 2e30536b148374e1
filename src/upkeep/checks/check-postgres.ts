import { fullVersion } from '../../platform/process/program-files.ts'
import { toOperatorError } from '../../platform/runtime/store-errors.ts'
import { assertPostgresUsable, postgresUrlSource } from '../../stores/db/connections/check-postgres.ts'
import {
  findConnectionShortage,
  findPoolerShortageForAll
} from '../../stores/db/connections/connection-budget.ts'
import { findDuplicateNames } from '../../stores/db/library/stored-names.ts'
import { listMigrations } from '../../stores/db/migrate.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { isKeyOfDatabase, readSecretsKey } from '../../stores/secrets/secrets-key.ts'
import type { CheckedSettings } from './checked-settings.ts'
import { type Finding, okFinding, problemFinding, toProblemFinding, warningFinding } from './finding.ts'

/** What the checks of the database found. */
export interface DatabaseCheck {
  readonly findings: readonly Finding[]
  /** Whether Postgres answers. */
  readonly responses: boolean
  /** Whether the schema is that of this release, so that its tables can be read. */
  readonly hasSchema: boolean
}

/** Checks the server, its settings and connections, the rights of the role, the schema, and the secrets key. */
export async function checkDatabase(sql: Sql, url: string, config: CheckedSettings): Promise<DatabaseCheck> {
  try {
    await assertPostgresUsable(url, postgresUrlSource(config))
  } catch (error) {
    const finding = toProblemFinding('Postgres', error, 'start Postgres, or correct DATABASE_URL')
    return { findings: [finding], responses: false, hasSchema: false }
  }
  const findings: Finding[] = []
  try {
    findings.push(...(await checkSettings(sql)))
    const schema = await checkSchema(sql)
    findings.push(...schema)
    if (schema.some(({ status }) => status === 'problem'))
      return { findings, responses: true, hasSchema: false }
    findings.push(
      ...(await checkConnections(sql, url)),
      await checkKey(sql, config),
      ...(await checkNames(sql)),
      ...(await checkImports(sql))
    )
    return { findings, responses: true, hasSchema: true }
  } catch (error) {
    findings.push(toProblemFinding('Postgres', toOperatorError(error) ?? error, 'see the log of Postgres'))
    return { findings, responses: true, hasSchema: false }
  }
}

async function checkConnections(sql: Sql, url: string): Promise<readonly Finding[]> {
  const shortage = await findConnectionShortage(sql)
  const poolerShortage = await findPoolerShortageForAll(sql, url)
  return [
    ...(shortage === null
      ? []
      : [warningFinding('Postgres', shortage, 'raise that limit (docs/configuration.md, "Connections")')]),
    ...(poolerShortage === null
      ? []
      : [
          warningFinding(
            'Postgres',
            poolerShortage,
            'raise default_pool_size of the pooler (docs/configuration.md, "Connections")'
          )
        ])
  ]
}

async function checkSettings(sql: Sql): Promise<readonly Finding[]> {
  const [row] = await sql<
    {
      version: string
      connections: number
      fsync: string
      commit: string
      isReadOnly: boolean
    }[]
  >`
    select current_setting('server_version') as version, current_setting('max_connections')::int as connections,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('transaction_read_only') = 'on' as "isReadOnly"`
  if (!row) throw new Error('Postgres has not answered')
  const { connections, fsync, commit, isReadOnly } = row
  const name = `version ${row.version}`
  const findings: Finding[] = []
  if (isReadOnly)
    findings.push(
      problemFinding(
        'Postgres',
        `${name}, read-only (default_transaction_read_only is on)`,
        'set it to off for the database and the role, or set DATABASE_URL to the primary'
      )
    )
  if (fsync === 'off' || commit === 'off')
    findings.push(
      warningFinding(
        'Postgres',
        `${name}, ${fsync === 'off' ? 'fsync' : 'synchronous_commit'} is off`,
        'set it to on: otherwise a power failure loses writes that were answered'
      )
    )
  return findings.length > 0 ? findings : [okFinding('Postgres', `${name}, ${connections} connections`)]
}

/** Checks the rights of the role and the migrations. */
async function checkSchema(sql: Sql): Promise<readonly Finding[]> {
  const [row] = await sql<{ role: string; database: string; mayCreate: boolean; foreign: string[] }[]>`
    select current_user as role, current_database() as database,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
      array(select tablename::text from pg_tables
        where schemaname = current_schema() and not pg_has_role(tableowner, 'USAGE') order by 1 limit 3) as foreign`
  if (!row) throw new Error('Postgres has not answered')
  const { role, database, mayCreate, foreign } = row
  const advice = `let ${role} own the database and its tables (alter database ${database} owner to ${role}), as after createdb --owner`
  if (!mayCreate)
    return [
      problemFinding('schema', `the role ${role} may not create tables in the database ${database}`, advice)
    ]
  const migrations = await checkMigrations(sql)
  return foreign.length === 0
    ? [migrations]
    : [
        migrations,
        warningFinding(
          'schema',
          `other roles than ${role} own tables (${foreign.join(', ')}), which upgrades change`,
          advice
        )
      ]
}

async function checkMigrations(sql: Sql): Promise<Finding> {
  const [table] = await sql<{ isThere: boolean }[]>`select to_regclass('migrations') is not null as "isThere"`
  if (!table?.isThere)
    return problemFinding(
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
    return problemFinding(
      'schema',
      `a newer release needs at least ${fullVersion}'s successor`,
      'run the newer release'
    )
  if (newer.length > 0)
    return warningFinding(
      'schema',
      `a newer release has run ${newer.join(', ')}`,
      'finish the upgrade, or roll it back'
    )
  if (missing.length > 0)
    return warningFinding(
      'schema',
      `${missing.length} migrations of version ${fullVersion} have not run`,
      'start a process of this version, which runs them'
    )
  return okFinding('schema', `up to date (${[...known].at(-1) ?? ''})`)
}

async function checkKey(sql: Sql, { DATA_DIR, SECRETS_KEY }: CheckedSettings): Promise<Finding> {
  const key = await readSecretsKey(DATA_DIR, SECRETS_KEY).catch(() => null)
  if (key !== null && (await isKeyOfDatabase(sql, key)))
    return okFinding('secrets key', 'opens the stored credentials')
  return problemFinding(
    'secrets key',
    key === null
      ? 'neither SECRETS_KEY nor DATA_DIR/secrets-key has a key'
      : 'the stored credentials were sealed with another key',
    'set SECRETS_KEY, or DATA_DIR/secrets-key, to the key of the other processes or of the restored installation; if it is lost, ' +
      'run npm run forget-credentials'
  )
}

const namedPairs = 3

/** Finds songs whose paths differ only in Unicode composition; none if migrations are missing. */
async function checkNames(sql: Sql): Promise<readonly Finding[]> {
  const [schema] = await sql<{ hasKeys: boolean }[]>`
    select to_regproc('name_key') is not null as "hasKeys"`
  if (!schema?.hasKeys) return []
  const { count, first } = await findDuplicateNames(sql, namedPairs)
  if (count === 0) return [okFinding('names of songs', 'no two songs of a station have one name')]
  const names = first.map(({ station, path }) => `${path} (${station})`).join(', ')
  return [
    warningFinding(
      'names of songs',
      `${count} paths are those of several songs, in different forms of Unicode: ${names}${count > first.length ? ', ...' : ''}`,
      'each song is found by its own form only; rename or delete one of each'
    )
  ]
}

/** Finds songs of imports whose files are not in the media storage; none if migrations are missing. */
async function checkImports(sql: Sql): Promise<readonly Finding[]> {
  const [schema] = await sql<{ isThere: boolean }[]>`
    select exists (select from information_schema.columns
      where table_schema = current_schema() and table_name = 'media' and column_name = 'imported_from') as "isThere"`
  if (!schema?.isThere) return []
  const stations = await sql<{ name: string; songs: number }[]>`
    select s.short_name as name, m.songs from stations s cross join lateral (
      select count(*)::int as songs from media m where m.station_id = s.id and m.remote_playlist_id is null
        and (media_folder(m.path) collate "C") >= '/' and (media_folder(m.path) collate "C") < '0') m
    where s.deleted_at is null and m.songs > 0 order by m.songs desc, s.id limit 20`
  if (stations.length === 0) return [okFinding('imported songs', 'all are in the media storage')]
  const list = stations.map(({ name, songs }) => `${songs} of ${name}`).join(', ')
  return [
    warningFinding(
      'imported songs',
      `songs outside of the media storage, which the dashboard cannot play, move or delete with their files: ${list}`,
      'run npm run import -- --take-in --dry-run, and then without --dry-run'
    )
  ]
}
