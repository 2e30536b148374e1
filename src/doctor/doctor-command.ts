import { isAbsolute, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { type CommandStores, findCommandStores } from '../command-database.ts'
import { type Config, parseConfig } from '../config.ts'
import { openSql, type Sql } from '../db/sql.ts'
import { assertSameMajor, findPostgresBinaries, readClusterMajor } from '../embedded/postgres-cluster.ts'
import { findMistypedVariables } from '../mistyped-variables.ts'
import { type CommandContext, reportOperatorErrors } from '../runtime/command-context.ts'
import { OperatorError } from '../runtime/errors.ts'
import { fullVersion } from '../runtime/program-files.ts'
import { reasonOf, toOperatorError } from '../runtime/store-errors.ts'
import { findBackupStorageProblem } from '../storage/backup-storage.ts'
import { checkBaseUrl } from './check-base-url.ts'
import { checkCertificate } from './check-certificate.ts'
import { checkConfiguration } from './check-configuration.ts'
import { checkDataDir, checkDisks, type Clock, judgeClocks } from './check-machine.ts'
import { checkPorts } from './check-ports.ts'
import { checkDatabase } from './check-postgres.ts'
import { checkRedisServer, type RedisCheck } from './check-redis-server.ts'
import { type Finding, ok, problem, problemOf, renderFindings, skipped, warning } from './finding.ts'

const usage = 'usage: npm run doctor -- [--json]'

const help = `${usage}

Checks the configuration, Postgres, Redis, clocks, disks, and whether Cuewire answers at BASE_URL, and says what to do.
Changes nothing. Exits with 1 if there is a problem.

  --json   print JSON: {"ok", "version", "findings": [{"check", "status", "message", "advice"}]}
  --help   show this help
`

/** Checks an installation. Returns the exit code: 0 without problems, else 1. */
export function doctorCommand(call: CommandContext): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    const { values } = parse(call.args)
    if (values.help) {
      call.stdout.write(help)
      return 0
    }
    const findings = await examine(call)
    const isOk = findings.every(({ status }) => status !== 'problem')
    call.stdout.write(
      values.json
        ? `${JSON.stringify({ ok: isOk, version: fullVersion, findings }, null, 2)}\n`
        : renderFindings(findings)
    )
    return isOk ? 0 : 1
  })
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }
    })
  } catch (error) {
    throw new OperatorError(
      `${error instanceof Error ? error.message.split('. ')[0] : String(error)}; ${usage}`
    )
  }
}

async function examine(call: CommandContext): Promise<readonly Finding[]> {
  let config: Config
  let stores: CommandStores | null
  try {
    config = parseConfig(call.env)
    stores = await findCommandStores(config, call)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [
      problem('configuration', error.message, 'correct the environment variables (docs/configuration.md)')
    ]
  }
  const found = { ...config, DATA_DIR: stores?.dataDir ?? config.DATA_DIR }
  const dataDir = await checkDataDir(found.DATA_DIR)
  const mistyped = findMistypedVariables(call.env).map(({ given, meant }) =>
    warning(
      'configuration',
      `${given} is set and has no effect`,
      `rename it to ${meant}, which was probably meant`
    )
  )
  const findings = [...(await checkConfiguration(found)), ...mistyped, checkNode(), ...dataDir.findings]
  return stores === null
    ? [...findings, ...(await examineStopped(found, dataDir.isAccessible))]
    : [
        ...findings,
        ...(await examineStores(found, stores)),
        await checkBaseUrl(found.BASE_URL),
        ...(await checkCertificate(found.BASE_URL))
      ]
}

/** The checks while nothing runs, and DATABASE_URL is not set. */
async function examineStopped(config: Config, isAccessible: boolean): Promise<readonly Finding[]> {
  const { REDIS_URL: redisUrl } = config
  const folder = resolve(config.DATA_DIR)
  const findings = [...(await checkBackupStorage(null, config))]
  if (redisUrl !== undefined)
    findings.push(...(await checkRedisServer(redisUrl, { isEmbedded: false })).findings)
  if (!isAccessible) {
    const message = `whether Cuewire runs is unknown, because ${folder} is not accessible; the stores and BASE_URL were not checked`
    return [...findings, warning('processes', message, 'run this as the user that runs Cuewire')]
  }
  const remaining = `${redisUrl === undefined ? 'Redis, ' : ''}processes, clocks, storage locations, BASE_URL and WebSockets`
  return [
    ...findings,
    ...(await checkEmbedded(folder)),
    warning(
      'processes',
      `no Cuewire runs with ${folder}; not checked: Postgres, ${remaining}`,
      'start it with npm start, and run this again'
    ),
    ...(await checkPorts(config)),
    await checkDisks([folder])
  ]
}

async function examineStores(config: Config, stores: CommandStores): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const isEmbedded = config.REDIS_URL === undefined
  const redis = stores.redisUrl === undefined ? null : await checkRedisServer(stores.redisUrl, { isEmbedded })
  const sql = openSql(stores.databaseUrl, { max: 1, name: 'doctor' })
  try {
    const database = await checkDatabase(sql, config)
    findings.push(
      ...database.findings,
      ...(redis?.findings ?? [
        skipped('Redis', 'REDIS_URL is not set, and no embedded Redis runs with this DATA_DIR')
      ])
    )
    if (database.isRunning === false) findings.push(...(await checkPorts(config)))
    const usable = database.answers ? sql : null
    if (usable !== null) findings.push(await checkClocks(usable, redis))
    findings.push(...(await checkBackupStorage(database.isRunning === null ? null : sql, config)))
    const paths = usable === null ? [] : await readStoragePaths(usable)
    findings.push(await checkDisks([resolve(config.DATA_DIR), ...paths]))
  } catch (error) {
    findings.push(problemOf('Postgres', toOperatorError(error) ?? error, 'see the log of Postgres'))
  } finally {
    await sql.end({ timeout: 1 })
  }
  return findings
}

async function checkBackupStorage(sql: Sql | null, config: Config): Promise<readonly Finding[]> {
  const { BACKUP_STORAGE: storage } = config
  if (storage === undefined) return []
  if (sql === null && !isAbsolute(storage))
    return [
      skipped('backups', `BACKUP_STORAGE ${storage}: the storage location cannot be looked up in Postgres`)
    ]
  const fault = await findBackupStorageProblem(sql, config).catch((error: unknown) => reasonOf(error))
  return fault === null
    ? [ok('backups', `BACKUP_STORAGE ${storage} was found`)]
    : [
        problem(
          'backups',
          `BACKUP_STORAGE ${storage} cannot be used: ${fault}`,
          'correct it, or make it usable for the workers'
        )
      ]
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const name = `Node.js ${process.versions.node}, Cuewire ${fullVersion}`
  return major > 20 || (major === 20 && minor >= 19)
    ? ok('program', name)
    : problem('program', name, 'install Node.js 20.19 or later')
}

/** The embedded Postgres, while Cuewire does not run. */
async function checkEmbedded(dataDir: string): Promise<readonly Finding[]> {
  const folder = join(dataDir, 'postgres')
  try {
    if ((await readClusterMajor(folder)) === null)
      return [
        problem(
          'Postgres',
          `DATABASE_URL is not set, and ${folder} has no database`,
          'set DATABASE_URL and REDIS_URL, or start Cuewire with npm start'
        )
      ]
    await assertSameMajor(folder, (await findPostgresBinaries()).major)
    return []
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [problemOf('Postgres', error, 'see docs/upgrading.md')]
  }
}

async function checkClocks(sql: Sql, redis: RedisCheck | null): Promise<Finding> {
  const sentAtMs = performance.now()
  const [row] = await sql<{ timeMs: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "timeMs"`
  const hostMs = Date.now()
  const answeredAtMs = performance.now()
  // The time of Postgres now, in the middle of the query.
  const databaseMs = (row?.timeMs ?? 0) + (answeredAtMs - sentAtMs) / 2
  const clocks: Clock[] = [{ name: 'this machine', aheadMs: hostMs - databaseMs }]
  if (redis?.time)
    clocks.push({
      name: 'Redis',
      aheadMs: redis.time.timeMs + (answeredAtMs - redis.time.readAtMs) - databaseMs
    })
  return judgeClocks(clocks)
}

async function readStoragePaths(sql: Sql): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`
    select path from storage_locations where adapter = 'local' and path <> '' order by id limit 1000`.catch(
    () => []
  )
  return rows.map(({ path }) => path)
}
