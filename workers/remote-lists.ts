import { setTimeout as sleep } from 'node:timers/promises'

import { refreshRemoteLists, type RemoteListServices } from '../src/playout/queue/remote-lists.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'

/** How often the worker looks for a list that is due. */
const lookMs = 3_000

/** Keeps the lists of remote playlists up to date, a few at a time. */
export function startRemoteLists(services: RemoteListServices): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  let isFailing = false

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await refreshRemoteLists(services, engineTimeMs(), signal)
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted)
          services.log.warn({ err: error }, 'remote lists not fetched; trying again')
        isFailing = true
      }
      await sleep(lookMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
