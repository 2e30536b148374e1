import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends AsyncDisposable {
  readonly path: string
}

/** A new folder that is removed when it is disposed. Open to all users by default: Postgres may run as another. */
export async function openTempFolder(mode = 0o755): Promise<TempFolder> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'cuewire-test-'))
  await chmod(path, mode)
  return {
    path,
    [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true, maxRetries: 5 })
  }
}
