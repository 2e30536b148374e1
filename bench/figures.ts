import { measureCommits } from './figures/commit.ts'
import { measureGetUnderPush } from './figures/get-under-push.ts'
import { measureReturn } from './figures/return.ts'
import { wantedParts } from './settings.ts'

const parts = { commit: measureCommits, get: measureGetUnderPush, return: measureReturn }

/**
 * What a player widget sees at its worst moments: `npm run bench -- figures`. The server has a core,
 * everything else the other. `RUNS` and `SECONDS` change the load, `PARTS` picks from commit, get and return.
 */
export async function figures(): Promise<void> {
  for (const part of wantedParts(['commit', 'get', 'return'])) await parts[part]()
}
