import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Config } from '../config.ts'
import type { Sql } from '../db/sql.ts'
import { OperatorError } from '../runtime/errors.ts'
import { openSecrets, type Secrets } from './secrets.ts'

const hexDigits = 64
const writtenWithinMs = 2_000

/**
 * The 32 bytes for `openSecrets`: 64 hex digits from the environment, else those in `DATA_DIR/secrets-key`
 * (mode 600), which is made at the first start. Whoever starts at the same moment gets the same key. Throws
 * an `OperatorError` when either is not a key, or when the file can be neither read nor made.
 */
export async function loadSecretsKey(dataDir: string, envValue: string | undefined): Promise<Uint8Array> {
  if (envValue !== undefined && envValue !== '') {
    return parseKey(envValue, 'the key for secrets in the environment is not')
  }
  const file = join(resolve(dataDir), 'secrets-key')
  try {
    await mkdir(resolve(dataDir), { recursive: true })
    return parseKey((await create(file)) ?? (await read(file)), `${file} does not hold`)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${file} can be neither read nor made (${String(codeOf(error))})`)
  }
}

function parseKey(text: string, claim: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(text.trim())) return Buffer.from(text.trim(), 'hex')
  throw new OperatorError(
    `${claim} ${hexDigits} hex digits: put the former key back (without it what it sealed is lost), or, if there ` +
      'never was one, remove it'
  )
}

/** A new key, on the disk before it is used; `null` when the file is there already. */
async function create(file: string): Promise<string | null> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      const key = randomBytes(hexDigits / 2).toString('hex')
      await handle.writeFile(`${key}\n`)
      await handle.sync()
      return key
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null
    throw error
  }
}

/** What the file holds; who has just made it may still be writing. */
async function read(file: string): Promise<string> {
  for (const deadline = Date.now() + writtenWithinMs; ; await sleep(20)) {
    const text = await readFile(file, 'utf8')
    if (text.length >= hexDigits || Date.now() > deadline) return text
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}

const purpose = 'settings.secrets_check'

/**
 * Opens the secrets that the database keeps. Throws an `OperatorError` where they were sealed with another
 * key: what this process seals, the others could not open.
 */
export async function openSecretsOf(sql: Sql, config: Config): Promise<Secrets> {
  const secrets = openSecrets(await loadSecretsKey(config.DATA_DIR, config.SECRETS_KEY))
  await sql`
    insert into settings (name, value) values ('secrets check', ${secrets.seal('cuewire', purpose)})
    on conflict (name) do nothing`
  const [row] = await sql<{ value: string }[]>`select value from settings where name = 'secrets check'`
  try {
    secrets.open(row?.value ?? '', purpose)
  } catch {
    throw new OperatorError(
      'SECRETS_KEY is not the key this database was used with: give all processes the same SECRETS_KEY, or the file ' +
        'secrets-key of the first one in their DATA_DIR. If the key is lost, so is what it sealed: run ' +
        "`delete from settings where name = 'secrets check'` in Postgres and enter the secrets of storage and hooks again"
    )
  }
  return secrets
}
