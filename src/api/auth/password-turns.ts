import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { TooManyRequests } from '../../runtime/errors.ts'
import { type BucketDeps, openSharedBuckets } from '../core/shared-buckets.ts'

/*
 * The bound on the passwords that can be tried for an account, from whatever addresses. It never refuses an account: beyond
 * the burst, attempts wait for their turn. Whoever has tried least gets it first, so that the owner, who comes from an address
 * that has tried nothing yet, is not held up by others who keep trying.
 */

interface Attempt {
  /** What the attempts are counted by: the network of an address. */
  readonly client: string
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface WaitingRoom {
  readonly waiting: Set<Attempt>
  /** How often each client has waited here. */
  readonly triedBy: Map<string, number>
}

/** A client gets 429 after this time: a browser and its proxies wait longer. */
const browserWaitMs = 20_000
const maxWaiting = 32
const maxClients = 10_000
const maxRooms = 1_000

/**
 * Opens a bound of `burst` attempts, then `perSecond`, for each account. All server processes share it. `maxWaitMs`: how long an
 * attempt waits for its turn.
 */
export function openTurns(limit: string, perSecond: number, burst: number, maxWaitMs = browserWaitMs) {
  const buckets = openSharedBuckets(limit, perSecond, burst)
  /** By account; those of accounts whose burst was used up. */
  const rooms = new Map<string, WaitingRoom>()

  function findRoom(account: string): WaitingRoom {
    const room = rooms.get(account) ?? { waiting: new Set(), triedBy: new Map() }
    for (const [name, { waiting }] of rooms) {
      if (rooms.size < maxRooms) break
      if (waiting.size === 0) rooms.delete(name)
    }
    rooms.set(account, room)
    return room
  }

  const triesOf = ({ triedBy }: WaitingRoom, { client }: Attempt) => triedBy.get(client) ?? 0

  /** Those who have tried least come first, among equals by chance. */
  function rank(room: WaitingRoom): Attempt[] {
    return [...room.waiting]
      .map(attempt => ({ attempt, tries: triesOf(room, attempt), chance: Math.random() }))
      .toSorted((a, b) => a.tries - b.tries || a.chance - b.chance)
      .map(({ attempt }) => attempt)
  }

  function leave(room: WaitingRoom, attempt: Attempt, retryAfterSeconds: number): void {
    if (room.waiting.delete(attempt)) attempt.reject(new TooManyRequests(retryAfterSeconds))
  }

  /** Gives turns until nobody waits. */
  async function giveTurns(deps: BucketDeps, account: string, room: WaitingRoom): Promise<void> {
    while (room.waiting.size > 0) {
      // Asked first, because a token that only one of the two counters has would be lost.
      const isFree = (await buckets.peek(deps, account)) === 0 && (await buckets.take(deps, account)) === 0
      const [first] = isFree ? rank(room) : []
      if (first) {
        room.waiting.delete(first)
        first.resolve()
      } else await sleep(200 + randomInt(100))
    }
  }

  function waitForTurn(deps: BucketDeps, account: string, client: string): Promise<void> {
    const room = findRoom(account)
    if (room.triedBy.size >= maxClients) room.triedBy.clear()
    room.triedBy.set(client, (room.triedBy.get(client) ?? 0) + 1)
    return new Promise<void>((resolve, reject) => {
      const attempt = { client, resolve, reject }
      const isFirst = room.waiting.size === 0
      room.waiting.add(attempt)
      const last = room.waiting.size > maxWaiting ? rank(room).at(-1) : undefined
      if (last) leave(room, last, Math.ceil(maxWaitMs / 1_000))
      const timer = setTimeout(() => leave(room, attempt, 1), maxWaitMs)
      timer.unref()
      if (isFirst) void giveTurns(deps, account, room)
    })
  }

  return {
    /** Whether an attempt for an account would have to wait. */
    isCrowded: async (deps: BucketDeps, account: string) => (await buckets.peek(deps, account)) > 0,
    /**
     * Takes a turn for an account; waits for it if the burst is used up. Throws 429 if there is none in time, which may
     * happen while very many others try.
     */
    take: async (deps: BucketDeps, account: string, client: string): Promise<void> => {
      if ((await buckets.take(deps, account)) > 0) await waitForTurn(deps, account, client)
    }
  }
}
