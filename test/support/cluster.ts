import { join } from 'node:path'

import { inject } from 'vitest'

import { copyFolder } from './temp-folder.ts'
import { isDeep } from './tier.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder as `startPostgres` creates it, with a new, unused cluster; empty with TEST_DATABASE_URL. */
    clusterFolder: string
  }
}

/**
 * Copies a new cluster into a folder that does not exist yet, so that `startPostgres` does not need to run
 * `initdb`, which takes longer than most tests. Does nothing in the deep tier.
 */
export async function copyCluster(to: string): Promise<void> {
  const from = inject('clusterFolder')
  if (!isDeep && from !== '') await copyFolder(from, to)
}

/** The folder of the embedded Postgres of a whole program. */
export const copyClusterInto = async (dataDir: string): Promise<void> =>
  copyCluster(join(dataDir, 'postgres'))
