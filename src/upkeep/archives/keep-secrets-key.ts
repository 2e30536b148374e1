import { constants, copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { secretsKeyPattern, isKeyOfDatabase, readSecretsKey } from '../../stores/secrets/secrets-key.ts'

interface KeyPlace {
  readonly DATA_DIR: string
  readonly SECRETS_KEY?: string | undefined
}

/** Reads the key of a database, to write it to a file of its own. Throws an `OperatorError` if it is not here. */
export async function readVerifiedSecretsKey(sql: Sql, { DATA_DIR, SECRETS_KEY }: KeyPlace): Promise<string> {
  const key = await readSecretsKey(DATA_DIR, SECRETS_KEY)
  if (key !== null && (await isKeyOfDatabase(sql, key))) return key
  throw new OperatorError(
    `the secrets key of this database is ${key === null ? 'neither in SECRETS_KEY nor' : 'not the one in SECRETS_KEY or'} in ${resolve(DATA_DIR)}: ` +
      'set SECRETS_KEY or DATA_DIR as the servers have them, or leave out --secrets-key'
  )
}

/**
 * Writes the key to a file that only its owner can read. A file that has the same key stays. Throws an `OperatorError`
 * if there is another file.
 */
export async function saveSecretsKey(file: string, key: string): Promise<void> {
  try {
    await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST')
      throw new OperatorError(`${file} cannot be written (${errorCodeOf(error)})`, { cause: error })
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

/** Reads a file that `saveSecretsKey` wrote. */
export async function readSavedSecretsKey(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new OperatorError(`${file} cannot be read (${errorCodeOf(error)})`, { cause: error })
  })
  if (!secretsKeyPattern.test(text.trim()))
    throw new OperatorError(`${file} does not contain a secrets key (64 hex digits)`)
  return text.trim().toLowerCase()
}

/** Throws an `OperatorError` if the environment has another key, which would be used instead. */
export function assertNoOtherSecretsKey(key: string, { SECRETS_KEY }: Pick<KeyPlace, 'SECRETS_KEY'>): void {
  if (SECRETS_KEY && SECRETS_KEY.trim().toLowerCase() !== key)
    throw new OperatorError('SECRETS_KEY is set to another key than the file of --secrets-key: unset one')
}

/** A key that was written beside its place. */
export interface StagedSecretsKey extends AsyncDisposable {
  /** Puts the key in its place. */
  readonly install: () => Promise<void>
}

/**
 * Writes a key to a file in DATA_DIR that `install` moves to `secrets-key`; disposing removes it. Another key that is
 * there is kept as `secrets-key.replaced`, or with a number if that file exists. Throws an `OperatorError` if the key
 * cannot be written.
 */
export async function stageSecretsKey(
  key: string,
  { DATA_DIR, SECRETS_KEY }: KeyPlace
): Promise<StagedSecretsKey> {
  const file = join(resolve(DATA_DIR), 'secrets-key')
  const staged = `${file}.restoring`
  const remove = async () => rm(staged, { force: true })
  const isInPlace = Boolean(SECRETS_KEY) || (await readText(file)) === key
  if (!isInPlace) {
    await remove()
    await saveSecretsKey(staged, key)
  }
  return {
    async install() {
      if (isInPlace) return
      await keepFile(file)
      await rename(staged, file)
    },
    [Symbol.asyncDispose]: remove
  }
}

const maxKept = 1_000

/** Copies a file, if it exists, to a name with `.replaced` that no file has. */
async function keepFile(file: string): Promise<void> {
  for (let number = 1; number <= maxKept; number++) {
    const kept = number === 1 ? `${file}.replaced` : `${file}.replaced-${number}`
    try {
      await copyFile(file, kept, constants.COPYFILE_EXCL)
      return
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return
      if (errorCodeOf(error) !== 'EEXIST')
        throw new OperatorError(`${kept} cannot be written (${errorCodeOf(error)})`, { cause: error })
    }
  }
  throw new OperatorError(`${file} cannot be kept: there are ${maxKept} files ${file}.replaced-NUMBER`)
}
