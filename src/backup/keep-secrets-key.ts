import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { Sql } from '../db/sql.ts'
import { createDataDir } from '../runtime/create-data-dir.ts'
import { codeOf, OperatorError } from '../runtime/errors.ts'
import { isKeyOfDatabase, readSecretsKey } from '../security/secrets-key.ts'

interface KeyPlace {
  readonly DATA_DIR: string
  readonly SECRETS_KEY?: string | undefined
}

/** Reads the key of a database, to write it to a file of its own. Throws an `OperatorError` if it is not here. */
export async function readKeyToSave(sql: Sql, { DATA_DIR, SECRETS_KEY }: KeyPlace): Promise<string> {
  const key = await readSecretsKey(DATA_DIR, SECRETS_KEY)
  if (key !== null && (await isKeyOfDatabase(sql, key))) return key
  throw new OperatorError(
    `the secrets key of this database is ${key === null ? 'neither in SECRETS_KEY nor' : 'not the one in SECRETS_KEY or'} in ${resolve(DATA_DIR)}: ` +
      'set SECRETS_KEY or DATA_DIR as the servers have them, or leave out --secrets-key'
  )
}

/**
 * Writes the key to a file that only its owner can read. A file that has the same key stays. Throws an `OperatorError` if there is another
 * file.
 */
export async function saveKey(file: string, key: string): Promise<void> {
  try {
    await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST')
      throw new OperatorError(`${file} cannot be written (${codeOf(error)})`, { cause: error })
    if ((await readText(file)) !== key)
      throw new OperatorError(
        `${file} exists already and does not have the key of this database: choose another file`,
        { cause: error }
      )
  }
}

/** Returns the text of a file in lower case, without line breaks; null if it cannot be read. */
const readText = (file: string) =>
  readFile(file, 'utf8').then(
    text => text.trim().toLowerCase(),
    () => null
  )

/** Reads a file that `saveKey` wrote. */
export async function readKeyFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new OperatorError(`${file} cannot be read (${codeOf(error)})`, { cause: error })
  })
  if (!/^[0-9a-f]{64}$/i.test(text.trim()))
    throw new OperatorError(`${file} does not contain a secrets key (64 hex digits)`)
  return text.trim().toLowerCase()
}

/**
 * Puts a key in its place in DATA_DIR. A different one that is there is kept as `secrets-key.replaced`. Throws an `OperatorError` if
 * SECRETS_KEY is set to another key.
 */
export async function installKey(key: string, { DATA_DIR, SECRETS_KEY }: KeyPlace): Promise<void> {
  if (SECRETS_KEY !== undefined) {
    if (SECRETS_KEY.toLowerCase() === key) return
    throw new OperatorError('SECRETS_KEY is set to another key than the file of --secrets-key: unset one')
  }
  const file = join(resolve(DATA_DIR), 'secrets-key')
  await createDataDir(DATA_DIR)
  const existing = await readFile(file, 'utf8').catch(() => null)
  if (existing?.trim().toLowerCase() === key) return
  if (existing !== null) await rename(file, `${file}.replaced`)
  await saveKey(file, key)
}
