import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { readCountries } from '../broadcast/countries.ts'
import { type CommandStores, findCommandStores } from '../command-database.ts'
import { type Config, parseConfig } from '../config.ts'
import { openSql, type Sql } from '../db/sql.ts'
import { assertSameMajor, findPostgresBinaries, readClusterMajor } from '../embedded/postgres-cluster.ts'
import { type CommandContext, reportOperatorErrors } from '../runtime/command-context.ts'
import { OperatorError } from '../runtime/errors.ts'
import { version } from '../runtime/program-files.ts'
import { checkBaseUrl } from './check-base-url.ts'
import { checkDataDir, checkDisks, type Clock, judgeClocks } from './check-machine.ts'
import { checkDatabase } from './check-postgres.ts'
import { checkRedisServer, type RedisCheck } from './check-redis-server.ts'
import { type Finding, ok, problem, renderFindings, skipped, warning } from './finding.ts'

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
      values.json ? `${JSON.stringify({ ok: isOk, version, findings }, null, 2)}\n` : renderFindings(findings)
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

async function examine(call: CommandContext): Promise<Finding[]> {
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
  const findings = [await checkConfiguration(found), checkNode(), await checkDataDir(found.DATA_DIR)]
  if (stores === null) {
    findings.push(await checkEmbedded(found.DATA_DIR), await checkDisks([resolve(found.DATA_DIR)]))
    return findings
  }
  const redis = stores.redisUrl === undefined ? null : await checkRedisServer(stores.redisUrl)
  const sql = openSql(stores.databaseUrl, { max: 1, name: 'doctor' })
  try {
    const database: Finding[] = []
    for await (const finding of checkDatabase(sql, found)) database.push(finding)
    findings.push(
      ...database,
      redis?.finding ??
        skipped('Redis', 'REDIS_URL is not set, and no embedded Redis runs with this DATA_DIR')
    )
    const answers = database.at(0)?.status !== 'problem'
    if (answers) findings.push(await checkClocks(sql, redis))
    findings.push(
      await checkDisks([resolve(found.DATA_DIR), ...(answers ? await readStoragePaths(sql) : [])])
    )
  } finally {
    await sql.end({ timeout: 1 })
  }
  findings.push(await checkBaseUrl(found.BASE_URL))
  return findings
}

async function checkConfiguration(config: Config): Promise<Finding> {
  const { BASE_URL, TRUSTED_PROXIES, DATABASE_URL, SECRETS_KEY, HLS_ACCESS_LOG, GEO_DATABASE } = config
  if (HLS_ACCESS_LOG !== undefined && !(await isReadable(HLS_ACCESS_LOG)))
    return problem(
      'configuration',
      `HLS_ACCESS_LOG ${HLS_ACCESS_LOG} is not readable`,
      'make it readable for the workers'
    )
  const geoProblem = GEO_DATABASE === undefined ? null : await findGeoProblem(GEO_DATABASE)
  if (geoProblem !== null)
    return problem(
      'configuration',
      `GEO_DATABASE ${GEO_DATABASE} cannot be used: ${geoProblem}`,
      'put a GeoLite2 database of countries or cities there, readable for the workers'
    )
  if (BASE_URL.startsWith('https:') && TRUSTED_PROXIES.length === 0)
    return warning(
      'configuration',
      'BASE_URL is https, and TRUSTED_PROXIES is not set',
      'set TRUSTED_PROXIES to the addresses of the proxy; otherwise all listeners count as one address'
    )
  if (DATABASE_URL !== undefined && SECRETS_KEY === undefined)
    return warning(
      'configuration',
      'SECRETS_KEY is not set, so the key is in DATA_DIR of this machine',
      'set SECRETS_KEY if processes run on several machines, and keep a copy of the key'
    )
  return ok('configuration', 'all variables are valid')
}

const findGeoProblem = (file: string) =>
  readCountries(file).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

const isReadable = (file: string) =>
  access(file, constants.R_OK).then(
    () => true,
    () => false
  )

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const name = `Node.js ${process.versions.node}, Cuewire ${version}`
  return major > 20 || (major === 20 && minor >= 19)
    ? ok('program', name)
    : problem('program', name, 'install Node.js 20.19 or later')
}

/** The embedded stores, while Cuewire does not run. */
async function checkEmbedded(dataDir: string): Promise<Finding> {
  const folder = join(resolve(dataDir), 'postgres')
  if ((await readClusterMajor(folder)) === null)
    return problem(
      'Postgres',
      `DATABASE_URL is not set, and ${folder} has no database`,
      'set DATABASE_URL and REDIS_URL, or start Cuewire with npm start'
    )
  try {
    await assertSameMajor(folder, (await findPostgresBinaries()).major)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return problem('Postgres', error.message, 'see docs/upgrading.md')
  }
  return skipped(
    'stores',
    `no Cuewire runs with ${resolve(dataDir)}: start it to check its Postgres and Redis`
  )
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
