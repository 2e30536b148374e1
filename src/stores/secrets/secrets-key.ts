import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { createDataDir } from '../../platform/process/create-data-dir.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql } from '../db/sql.ts'
import { openSecrets, type Secrets } from './secrets.ts'

const hexDigits = 64
export const secretsKeyPattern = /^[0-9a-f]{64}$/i
/** How long another process may take to write the key that it has created. */
const writeTimeoutMs = 2_000

/**
 * Returns the 32-byte key of `openSecrets`: 64 hex digits from the environment, else from
 * `DATA_DIR/secrets-key` (mode 600), which is created at the first start. Concurrent starts get the same key.
 * Throws an `OperatorError` if it is not a key, or if the file can be neither read nor created.
 */
export async function loadSecretsKey(dataDir: string, envValue: string | undefined): Promise<Uint8Array> {
  if (envValue !== undefined && envValue !== '') return parseSecretsKey(envValue, 'SECRETS_KEY is not')
  const file = join(resolve(dataDir), 'secrets-key')
  try {
    await createDataDir(dataDir)
    return parseSecretsKey(
      (await createKeyFile(file)) ?? (await readKeyFile(file)),
      `${file} does not contain`
    )
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `${file} can be neither read nor created (${errorCodeOf(error) || String(error)})`
    )
  }
}

/** Returns the key in hex digits; null if none was created. Throws an `OperatorError` if it is not a key. */
export async function readSecretsKey(dataDir: string, envValue: string | undefined): Promise<string | null> {
  const file = join(resolve(dataDir), 'secrets-key')
  const stored = envValue || (await readFile(file, 'utf8').catch(() => null))
  if (stored === null) return null
  return Buffer.from(
    parseSecretsKey(stored, envValue ? 'SECRETS_KEY is not' : `${file} does not contain`)
  ).toString('hex')
}

/** The row of `settings` with a sealed text, which tells the key of the database from others. */
export const secretsCheckName = 'secrets check'

/** Whether secrets of a database were sealed with a key; also if there are none yet. */
export async function isKeyOfDatabase(sql: Sql, hexKey: string): Promise<boolean> {
  const [row] = await sql<{ value: string }[]>`select value from settings where name = ${secretsCheckName}`
  return opensSecretsCheck(hexKey, row?.value ?? null)
}

/** Whether a key opens the sealed text of a database; true if it has none yet. */
export function opensSecretsCheck(hexKey: string, sealed: string | null): boolean {
  if (sealed === null) return true
  try {
    openSecrets(Buffer.from(hexKey, 'hex')).open(sealed, purpose)
    return true
  } catch {
    return false
  }
}

function parseSecretsKey(text: string, problem: string): Uint8Array {
  if (secretsKeyPattern.test(text.trim())) return Buffer.from(text.trim(), 'hex')
  throw new OperatorError(
    `${problem} ${hexDigits} hex digits: restore the previous key (without it, sealed secrets are lost), or ` +
      'remove it if there never was one'
  )
}

/** Creates a key and syncs it to disk; null if the file exists. */
async function createKeyFile(file: string): Promise<string | null> {
  try {
    await using handle = await open(file, 'wx', 0o600)
    const key = randomBytes(hexDigits / 2).toString('hex')
    await handle.writeFile(`${key}\n`)
    await handle.sync()
    return key
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return null
    throw error
  }
}

/** Waits while the process that created the file is writing. */
async function readKeyFile(file: string): Promise<string> {
  for (const deadline = Date.now() + writeTimeoutMs; ; await sleep(20)) {
    const text = await readFile(file, 'utf8')
    if (text.length >= hexDigits || Date.now() > deadline) return text
  }
}

const purpose = 'settings.secrets_check'

/** Where the key is: the folder of its file, and the key itself if a variable has it. */
interface SecretsSettings {
  readonly DATA_DIR: string
  readonly SECRETS_KEY?: string | undefined
}

/** Opens the secrets of a database. Throws an `OperatorError` if other processes seal with another key. */
export async function openDatabaseSecrets(sql: Sql, config: SecretsSettings): Promise<Secrets> {
  const secrets = openSecrets(await loadSecretsKey(config.DATA_DIR, config.SECRETS_KEY))
  await sql`
    insert into settings (name, value) values (${secretsCheckName}, ${secrets.seal('cuewire', purpose)})
    on conflict (name) do nothing`
  const [row] = await sql<{ value: string }[]>`select value from settings where name = ${secretsCheckName}`
  try {
    secrets.open(row?.value ?? '', purpose)
  } catch {
    throw new OperatorError(
      'SECRETS_KEY is not the key this database was used with: set the same SECRETS_KEY for all processes, or copy ' +
        'the file secrets-key of the first one to their DATA_DIR. If the key is lost, so are the stored credentials: ' +
        '`npm run forget-credentials` removes them and lists what has to be entered again'
    )
  }
  return secrets
}
