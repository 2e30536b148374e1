import { setTimeout as sleep } from 'node:timers/promises'

import { openSingleFlight } from '../../../platform/runtime/coalesce.ts'

/** Which of several servers takes writes. */
export interface PrimaryFinder<Server> {
  /** Returns the primary. Searches it first if it is not known, and throws the last error if that takes too long. */
  readonly find: () => Promise<Server>
  /** Says that a connection to a server was lost or refused: it may not be the primary any more. */
  readonly doubt: (server: Server) => void
}

export interface PrimarySearch<Server> {
  /** Throws unless the server takes writes. */
  readonly ask: (server: Server) => Promise<void>
  /** Whether another server, or the same one later, may answer better. */
  readonly mayPass: (error: unknown) => boolean
  /** For how long servers are asked again. */
  readonly limitMs: number
  readonly pauseMs: () => number
}

/**
 * Opens a finder that asks the servers in turn, beginning with the last primary, and pauses once none of them was it.
 */
export function openPrimaryFinder<Server>(
  servers: readonly [Server, ...Server[]],
  { ask, mayPass, limitMs, pauseMs }: PrimarySearch<Server>
): PrimaryFinder<Server> {
  let current = servers[0]
  let isKnown = false
  const searchOnce = openSingleFlight<Server>()

  async function search(): Promise<Server> {
    const startedAtMs = performance.now()
    for (let asked = 1; ; asked++) {
      try {
        await ask(current)
        isKnown = true
        return current
      } catch (error) {
        current = servers[(servers.indexOf(current) + 1) % servers.length] ?? servers[0]
        if (!mayPass(error)) throw error
        if (asked % servers.length !== 0) continue
        if (performance.now() - startedAtMs > limitMs) throw error
        await sleep(pauseMs())
      }
    }
  }

  return {
    find: async () => {
      return isKnown ? current : searchOnce(search)
    },
    doubt: server => {
      if (server === current) isKnown = false
    }
  }
}
