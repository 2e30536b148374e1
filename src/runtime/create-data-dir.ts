import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'

import { withDeadline } from './deadline.ts'

const timeoutMs = 5_000

/**
 * Creates the folder DATA_DIR if it is missing. Returns the first folder that was created, else undefined. Has a deadline, because
 * on some file systems (`/proc`) `mkdir` with `recursive` never returns.
 */
export const createDataDir = (path: string): Promise<string | undefined> =>
  withDeadline(timeoutMs, `creating ${path}`, () => mkdir(resolve(path), { recursive: true }))
