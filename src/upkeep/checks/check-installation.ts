import { isAbsolute, join, resolve } from 'node:path'

import { findBackupStorageProblem } from '../../library/storage/backup-storage.ts'
import { fullVersion } from '../../platform/process/program-files.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError, toOperatorError } from '../../platform/runtime/store-errors.ts'
import { readInstallationSettings } from '../../stores/db/installation-settings.ts'
import { openSql, type Sql } from '../../stores/db/sql.ts'
import {
  assertSameMajor,
  findPostgresBinaries,
  readClusterMajor
} from '../../stores/embedded/postgres-cluster.ts'
import { checkBaseUrl } from './check-base-url.ts'
import { checkCertificate } from './check-certificate.ts'
import { checkConfiguration } from './check-configuration.ts'
import { checkDataDir, checkDisks, type CheckedClock, compareClocks } from './check-machine.ts'
import { checkPorts, checkPortsOfStarts } from './check-ports.ts'
import { checkDatabase } from './check-postgres.ts'
import { checkProcesses } from './check-processes.ts'
import { checkRedisServer, type RedisCheck } from './check-redis-server.ts'
import type { CheckedSettings } from './checked-settings.ts'
import {
  type Finding,
  okFinding,
  problemFinding,
  toProblemFinding,
  skippedFinding,
  warningFinding
} from './finding.ts'
import { type ProcessesOfKind, readRegisteredProcesses } from './running-processes.ts'
import { checkServerSettings, withServerSettings } from './server-settings.ts'

/** The stores of an installation. */
export interface CheckedStores {
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
}

/** The checks while nothing runs, and DATABASE_URL is not set. */
export async function checkStoppedInstallation(config: CheckedSettings): Promise<readonly Finding[]> {
  const { REDIS_URL: redisUrl } = config
  const folder = resolve(config.DATA_DIR)
  const { findings: ofFolder, isAccessible } = await checkDataDir(config.DATA_DIR)
  const findings = [...(await checkConfiguration(config)), checkNode(), ...ofFolder]
  findings.push(...(await checkBackupStorage(null, config)))
  if (redisUrl !== undefined)
    findings.push(...(await checkRedisServer(redisUrl, { isEmbedded: false })).findings)
  if (!isAccessible) {
    const message = `whether Cuewire runs is unknown, because ${folder} is not accessible; the stores and BASE_URL were not checked`
    return [...findings, warningFinding('processes', message, 'run this as the user that runs Cuewire')]
  }
  const remaining = `${redisUrl === undefined ? 'Redis, ' : ''}processes, clocks, storage locations, BASE_URL and WebSockets`
  return [
    ...findings,
    ...(await checkEmbedded(folder)),
    warningFinding(
      'processes',
      `no Cuewire runs with ${folder}; not checked: Postgres, ${remaining}`,
      'start it with npm start, and run this again'
    ),
    ...(await checkPorts(config)),
    await checkDisks([folder])
  ]
}

/**
 * Checks a configuration and the stores it leads to. `isSet` says which variables are set here; servers that run set
 * the others.
 */
export async function checkInstallation(
  given: CheckedSettings,
  stores: CheckedStores,
  isSet: (name: string) => boolean
): Promise<readonly Finding[]> {
  const sql = openSql(stores.databaseUrl, { max: 1, name: 'doctor' })
  try {
    // An unreachable Postgres is reported by its own check.
    const processes = await readRegisteredProcesses(sql).catch(() => [])
    const config = withServerSettings(given, isSet, processes)
    const dataDir = await checkDataDir(config.DATA_DIR)
    return [
      ...(await checkConfiguration(config)),
      ...checkServerSettings(config, processes),
      checkNode(),
      ...dataDir.findings,
      ...(await checkStores(sql, config, stores, processes)),
      await checkBaseUrl(config.BASE_URL, await readIdentifier(sql)),
      ...(await checkCertificate(config.BASE_URL))
    ]
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** The identifier that the servers of the installation send; empty if it is unknown. */
const readIdentifier = (sql: Sql) =>
  readInstallationSettings(sql).then(
    settings => settings.app_unique_identifier,
    () => ''
  )

async function checkStores(
  sql: Sql,
  config: CheckedSettings,
  stores: CheckedStores,
  processes: readonly ProcessesOfKind[]
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const isEmbedded = config.REDIS_URL === undefined
  const redis = stores.redisUrl === undefined ? null : await checkRedisServer(stores.redisUrl, { isEmbedded })
  const database = await checkDatabase(sql, stores.databaseUrl, config)
  findings.push(
    ...database.findings,
    ...(redis?.findings ?? [
      skippedFinding('Redis', 'REDIS_URL is not set, and no embedded Redis runs with this DATA_DIR')
    ])
  )
  try {
    if (database.hasSchema) {
      findings.push(...checkProcesses(processes))
      findings.push(...(await checkPortsOfStarts(config, processes)))
    }
    const usable = database.responses ? sql : null
    if (usable !== null) findings.push(await checkClocks(usable, redis))
    findings.push(...(await checkBackupStorage(database.hasSchema ? sql : null, config)))
    const paths = usable === null ? [] : await readStoragePaths(usable)
    findings.push(await checkDisks([resolve(config.DATA_DIR), ...paths]))
  } catch (error) {
    findings.push(toProblemFinding('Postgres', toOperatorError(error) ?? error, 'see the log of Postgres'))
  }
  return findings
}

async function checkBackupStorage(sql: Sql | null, config: CheckedSettings): Promise<readonly Finding[]> {
  const { BACKUP_STORAGE: storage } = config
  if (storage === undefined) return []
  if (sql === null && !isAbsolute(storage))
    return [
      skippedFinding(
        'backups',
        `BACKUP_STORAGE ${storage}: the storage location cannot be looked up in Postgres`
      )
    ]
  const fault = await findBackupStorageProblem(sql, config).catch((error: unknown) => describeError(error))
  return fault === null
    ? [okFinding('backups', `BACKUP_STORAGE ${storage} was found`)]
    : [
        problemFinding(
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
    ? okFinding('program', name)
    : problemFinding('program', name, 'install Node.js 20.19 or later')
}

/** The embedded Postgres, while Cuewire does not run. */
async function checkEmbedded(dataDir: string): Promise<readonly Finding[]> {
  const folder = join(dataDir, 'postgres')
  try {
    if ((await readClusterMajor(folder)) === null)
      return [
        problemFinding(
          'Postgres',
          `DATABASE_URL is not set, and ${folder} has no database`,
          'set DATABASE_URL and REDIS_URL, or start Cuewire with npm start'
        )
      ]
    await assertSameMajor(folder, (await findPostgresBinaries()).major)
    return []
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [toProblemFinding('Postgres', error, 'see docs/upgrading.md')]
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
  const clocks: CheckedClock[] = [{ name: 'this machine', aheadMs: hostMs - databaseMs }]
  if (redis?.time)
    clocks.push({
      name: 'Redis',
      aheadMs: redis.time.timeMs + (answeredAtMs - redis.time.readAtMs) - databaseMs
    })
  return compareClocks(clocks)
}

async function readStoragePaths(sql: Sql): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`
    select path from storage_locations where adapter = 'local' and path <> '' order by id limit 1000`.catch(
    () => []
  )
  return rows.map(({ path }) => path)
}
