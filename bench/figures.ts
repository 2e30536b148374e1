import { measureCommits } from './figures/commit.ts'
import { measureGetUnderPush } from './figures/get-under-push.ts'
import { measureReconnect } from './figures/reconnect.ts'
import { selectParts } from './settings.ts'

const parts = { commit: measureCommits, get: measureGetUnderPush, return: measureReconnect }

/**
 * Measures song changes, GETs during push, and reconnecting clients: `npm run bench -- figures`. The server
 * runs on one core, everything else on the other. `RUNS` and `SECONDS` change the load; `PARTS` selects from
 * `commit`, `get` and `return`.
 */
export async function figures(): Promise<void> {
  for (const part of selectParts(['commit', 'get', 'return'])) await parts[part]()
}
