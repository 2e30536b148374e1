import { setMaxListeners } from 'node:events'

import pLimit from 'p-limit'

import { networkList } from '../../outbound/networks.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import type { Secrets } from '../../security/secrets.ts'
import { openAnswers } from '../server-answers.ts'
import { type ClaimedPoll, claimPolls, storeResults, type PollResult } from './poll-rows.ts'
import { type PollParts, runPoll } from './poll.ts'

export interface PollServices extends PlayoutServices {
  readonly config: { readonly WEBHOOK_ALLOWED_NETWORKS: readonly string[] }
  readonly secrets: Pick<Secrets, 'open'>
}

/** Asking, as one process does it. */
export interface Polls {
  /**
   * Keeps how the polls went that have ended, takes servers that are due at this time (Unix milliseconds), as
   * many as there is room for, and begins to ask them. Gives how many, and whether there was room for no
   * more.
   */
  readonly look: (nowMs: number) => Promise<{ begun: number; isFull: boolean }>
  /** Waits for all that were begun, and keeps how they went. */
  readonly settled: () => Promise<void>
}

/** Servers that answer soon are asked so many at once. One that does not gives its place to another. */
const atOnce = 64
const soonMs = 1_000
const atOnceWithSlow = 200
/** Connections to the database that what was found may take. */
const writtenAtOnce = 4

/**
 * Where the servers of stations may be beside the public internet: administrators choose them. Those of
 * remotes may not, and nobody's in link-local, shared and private IPv6 networks, where clouds tell secrets to
 * their machines.
 */
const privateNetworks = ['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/**
 * Opens the asking of streaming servers; any number of processes may do it. Aborting `signal` gives up all
 * questions.
 */
export function openPolls(services: PollServices, signal: AbortSignal): Polls {
  const { WEBHOOK_ALLOWED_NETWORKS: alsoAllowed } = services.config
  const parts: PollParts = {
    ...services,
    askStation: openAnswers(networkList([...privateNetworks, ...alsoAllowed])),
    askRemote: openAnswers(networkList(alsoAllowed)),
    writing: pLimit(writtenAtOnce)
  }
  // One listener for each question that is under way.
  setMaxListeners(0, signal)
  const underWay = new Set<Promise<void>>()
  const results: PollResult[] = []
  let soon = 0

  async function begin(poll: ClaimedPoll, clock: () => number): Promise<void> {
    let isSoon = true
    soon++
    const giveWay = () => {
      if (isSoon) soon--
      isSoon = false
    }
    const timer = setTimeout(giveWay, soonMs)
    try {
      const result = await runPoll(parts, poll, clock, signal)
      if (result) results.push(result)
    } catch (error) {
      if (!signal.aborted)
        services.log.error({ err: error, station: poll.stationId }, 'poll not kept; retrying')
    } finally {
      clearTimeout(timer)
      giveWay()
    }
  }

  return {
    async look(nowMs) {
      signal.throwIfAborted()
      await storeResults(services.sql, results.splice(0))
      const room = Math.min(atOnce - soon, atOnceWithSlow - underWay.size)
      if (room <= 0) return { begun: 0, isFull: true }
      const polls = await claimPolls(services.sql, nowMs, room)
      const fromMs = performance.now()
      const clock = () => Math.round(nowMs + performance.now() - fromMs)
      for (const poll of polls) {
        const running = begin(poll, clock).finally(() => underWay.delete(running))
        underWay.add(running)
      }
      return { begun: polls.length, isFull: polls.length === room }
    },
    async settled() {
      await Promise.all(underWay)
      await storeResults(services.sql, results.splice(0))
    }
  }
}
