import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

/** A folder of this test's own, gone when the test is. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-test-'))
  onTestFinished(async () => rm(folder, { recursive: true, force: true }))
  return folder
}
