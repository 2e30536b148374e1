import { join } from 'node:path'

import { inject } from 'vitest'

import { copyFolder } from './temp-folder.ts'
import { isDeep } from './tier.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A folder as `startPostgres` leaves it, with a new cluster and nobody in it; empty where there is none.
     */
    clusterFolder: string
  }
}

/**
 * Puts a new cluster into a folder that does not exist yet, for `startPostgres`, so that it need not run
 * `initdb`, which takes longer than most tests. In the deep tier it does.
 */
export async function copyCluster(to: string): Promise<void> {
  const from = inject('clusterFolder')
  if (!isDeep && from !== '') await copyFolder(from, to)
}

/** The folder of the embedded Postgres of a whole program. */
export const copyClusterInto = async (dataDir: string): Promise<void> =>
  copyCluster(join(dataDir, 'postgres'))
