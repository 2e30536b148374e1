import { refreshRemoteLists, type RemoteListServices } from '../src/playout/queue/remote-lists.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat, type Repetition } from '../src/runtime/repeat.ts'

/** Fetches the lists of remote playlists that are due, a few at a time. */
export function startRemoteLists(services: RemoteListServices): Repetition {
  const run = async (signal: AbortSignal) => {
    await refreshRemoteLists(services, engineTimeMs(), signal)
  }
  return repeat(run, { pauseMs: 3_000, log: services.log, failure: 'remote playlists not fetched' })
}
