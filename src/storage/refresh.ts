import type { Sql } from '../db/sql.ts'
import type { Logger } from '../log.ts'
import { raiseNotification, settleNotification } from '../notifications.ts'
import type { Secrets } from '../secrets.ts'
import { StorageFault } from './fault.ts'
import { readFreeBytes } from './local.ts'
import { locationUri } from './location.ts'
import { allowedRoots, type LocationRecord, openLocation, placeOf, purposeOf } from './record.ts'
import { reach } from './remote.ts'
import { resolvesInsideRoots } from './roots.ts'
import { capacityOf, formatSize, isFull, usedPercent } from './size.ts'
import type { Usage } from './usage.ts'

export interface RefreshParts {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly log: Logger
  readonly config: { readonly STORAGE_ROOTS: readonly string[]; readonly DATA_DIR: string }
}

/** How often a location is counted; a listing of a bucket costs money. */
const localEvery = '5 minutes'
const remoteEvery = '1 hour'
/** How long one count may take. The claim lasts longer, so that no two processes count at once. */
const patienceMs = 5 * 60_000
const claim = '6 minutes'

type Row = LocationRecord & { readonly id: number; readonly quotaBytes: string }

/** From this on operators are told; below the second figure it is over. */
const nearlyFullPercent = 90
const easedPercent = 85

/**
 * Counts one storage location whose time has come and writes down what it holds; false if none is due. It may run in
 * any number of processes: a location is claimed before it is counted, and a claim that was left behind runs out.
 */
export async function refreshNext(parts: RefreshParts, signal: AbortSignal): Promise<boolean> {
  const { sql, log } = parts
  const [row] = await sql<Row[]>`
    update storage_locations set measure_at = now() + ${claim}::interval
    where id = (
      select id from storage_locations where measure_at <= now() order by measure_at limit 1 for update skip locked)
    returning id, storage_quota_bytes as "quotaBytes", adapter, path, s3_credential_key as "s3CredentialKey",
      s3_credential_secret as "s3CredentialSecret", s3_region as "s3Region", s3_bucket as "s3Bucket",
      s3_endpoint as "s3Endpoint", dropbox_app_key as "dropboxAppKey", dropbox_app_secret as "dropboxAppSecret",
      dropbox_auth_token as "dropboxAuthToken", sftp_host as "sftpHost", sftp_username as "sftpUsername",
      sftp_password as "sftpPassword", sftp_port as "sftpPort", sftp_private_key as "sftpPrivateKey",
      sftp_private_key_pass_phrase as "sftpPrivateKeyPassPhrase"`
  if (!row) return false
  const every = row.adapter === 'local' ? localEvery : remoteEvery
  try {
    const usage = await measure(row, parts, signal)
    const free = usage?.freeBytes ?? null
    await sql`
      update storage_locations set used_bytes = ${String(usage?.usedBytes ?? 0n)}, files = ${usage?.files ?? 0},
        free_bytes = ${free === null ? null : String(free)}, measured_at = now(), fault = '',
        measure_at = now() + ${every}::interval * (0.9 + random() * 0.2)
      where id = ${row.id}`
    if (usage) await tellWhenNearlyFull(sql, row, usage)
  } catch (error) {
    if (signal.aborted) throw error
    if (!(error instanceof StorageFault)) log.error({ err: error, location: row.id }, 'storage not counted')
    // What was counted last stays: a server that is away for an hour does not make the files go away.
    await sql`
      update storage_locations set fault = ${error instanceof StorageFault ? error.word : 'unusable'},
        measure_at = now() + ${every}::interval * (0.9 + random() * 0.2)
      where id = ${row.id}`
  }
  return true
}

/** The gap between the two figures keeps a location at the edge from being told of again and again. */
async function tellWhenNearlyFull(sql: Sql, row: Row, { usedBytes, freeBytes }: Usage): Promise<void> {
  const available = capacityOf(BigInt(row.quotaBytes), usedBytes, freeBytes)
  const percent = usedPercent(usedBytes, available)
  const fact = `storage-nearly-full:${row.id}`
  if (percent < easedPercent) await settleNotification(sql, fact)
  if (percent < nearlyFullPercent || available === null) return
  await raiseNotification(sql, {
    fact,
    title: `Storage is ${percent} % full: ${locationUri(placeOf(row))}`,
    body: `It holds ${formatSize(usedBytes)} of ${formatSize(available)}.`,
    type: isFull(usedBytes, available) ? 'danger' : 'warning',
    source: 'storage'
  })
}

async function measure(row: Row, parts: RefreshParts, signal: AbortSignal): Promise<Usage | null> {
  const location = openLocation(row, field =>
    row[field] === '' ? '' : parts.secrets.open(row[field], purposeOf(field))
  )
  if (location.adapter === 'local' && !(await resolvesInsideRoots(location.path, allowedRoots(parts.config))))
    throw new StorageFault('denied')
  return reach({ work: 'measure', location, patienceMs }, signal)
}

/** Reads how much room the volumes of local locations have; one look per location. */
export async function refreshVolumes({ sql, config }: RefreshParts): Promise<void> {
  const rows = await sql<{ id: number; path: string }[]>`
    select id, path from storage_locations where adapter = 'local' order by id limit 1000`
  for (const { id, path } of rows) {
    if (!(await resolvesInsideRoots(path, allowedRoots(config)))) continue
    const free = await readFreeBytes(path)
    await sql`update storage_locations set free_bytes = ${free === null ? null : String(free)} where id = ${id}`
  }
}
