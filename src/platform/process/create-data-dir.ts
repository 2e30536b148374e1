import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import { withDeadline } from '../runtime/deadline.ts'
import { errorCodeOf } from '../runtime/errors.ts'
import type { Logger } from '../runtime/log.ts'
import { OperatorError } from '../runtime/operator-error.ts'

const timeoutMs = 5_000

/**
 * Creates the folder DATA_DIR if it is missing. Returns the first folder that was created, else undefined. Has a
 * deadline, because a network file system may not answer.
 */
export const createDataDir = (path: string): Promise<string | undefined> =>
  withDeadline(timeoutMs, `creating ${path}`, () => createFolder(resolve(path)))

/** Creates DATA_DIR if it is missing. Throws an `OperatorError` if files cannot be created in it. */
export async function assertDataDirIsWritable(path: string): Promise<void> {
  try {
    await createDataDir(path)
    await withDeadline(timeoutMs, `reading ${path}`, () => access(path, constants.W_OK | constants.X_OK))
  } catch (error) {
    throw createDataDirError(path, error)
  }
}

/** Like `assertDataDirIsWritable`, for a server, which writes to it only what is uploaded: logs a warning instead. */
export async function warnUnlessDataDirIsWritable(path: string, log: Logger): Promise<void> {
  await assertDataDirIsWritable(path).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    log.warn(`uploads will fail: ${error.message}`)
  })
}

/** The error of a DATA_DIR in which nothing can be written. */
export const createDataDirError = (path: string, cause: unknown): OperatorError =>
  new OperatorError(
    `DATA_DIR ${resolve(path)} is not writable (${errorCodeOf(cause) || String(cause)}): set a writable folder`,
    { cause }
  )

/**
 * Like `mkdir` with `recursive`, which never ends where nothing can be created although the parent exists (`/proc`).
 */
async function createFolder(path: string): Promise<string | undefined> {
  try {
    await mkdir(path)
    return path
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') {
      if (await isFolder(path)) return undefined
      throw error
    }
  }
  const first = await createFolder(dirname(path))
  try {
    await mkdir(path)
    return first ?? path
  } catch (error) {
    // Another process created it.
    if (await isFolder(path)) return first
    throw error
  }
}

const isFolder = (path: string) =>
  stat(path).then(
    stats => stats.isDirectory(),
    () => false
  )
