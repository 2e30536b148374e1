/**
 * How much work may go on at once, and how much may wait. An owner is whom limits count for, such as an
 * address.
 */
export interface FairSemaphoreOptions {
  /** Pieces of work at once, over all owners. */
  readonly total: number
  /** Of one owner, those counted that have run and are not released. */
  readonly perOwner: number
  readonly waitingPerOwner: number
  readonly waiting: number
  /** How long a piece of work may wait for its turn. */
  readonly waitMs: number
}

/**
 * Why a piece of work may not run: too much of its owner waits, too much waits in all, it waited too long, or
 * was dropped.
 */
export type PermitRefusal = 'owner-full' | 'full' | 'timed-out' | 'dropped'

/** A piece of work that may run. Both functions may be called repeatedly. */
export interface Permit {
  /** The work is done: another piece may run. Its owner keeps the place. */
  readonly done: () => void
  /** Frees the owner's place too. */
  readonly release: () => void
}

export interface FairSemaphore {
  /**
   * Waits for permission to run work that is expected to take about this long. `drop` has no effect on work
   * that has started.
   */
  readonly acquire: (
    owner: string,
    expectedMs: number
  ) => {
    readonly permit: Promise<Permit | PermitRefusal>
    readonly drop: () => void
  }
}

interface Waiting {
  readonly expectedMs: number
  readonly start: (result: Permit | PermitRefusal) => void
  readonly timer: NodeJS.Timeout
}

interface Owner {
  held: number
  /** Time of the semaphore that the owner has used, in milliseconds, which halves with every `halfLifeMs`. */
  usedMs: number
  usedAtMs: number
  readonly waiting: Waiting[]
  /** How long all that waits is expected to take. */
  waitingMs: number
}

const halfLifeMs = 10_000
/** Owners without work are remembered up to this number; the one not used for longest is forgotten first. */
const ownersAtMost = 10_000

/**
 * Limits how much goes on at once. Of those who wait, the owner whose recent use and all waiting work add up
 * to the least time runs next: an owner with much to do, or many such owners that come at once, hardly delay
 * one with little.
 */
export function openFairSemaphore(
  options: FairSemaphoreOptions,
  now: () => number = () => performance.now()
): FairSemaphore {
  const { total, perOwner, waitingPerOwner, waiting: waitingAtMost, waitMs } = options
  const owners = new Map<string, Owner>()
  const waitingOwners = new Set<Owner>()
  let running = 0
  let waiting = 0

  function ownerNamed(name: string): Owner {
    const owner = owners.get(name) ?? { held: 0, usedMs: 0, usedAtMs: now(), waiting: [], waitingMs: 0 }
    owners.delete(name)
    owners.set(name, owner)
    if (owners.size > ownersAtMost) forgetOne()
    return owner
  }

  function forgetOne(): void {
    for (const [name, { held, waiting: own }] of owners)
      if (held === 0 && own.length === 0) return void owners.delete(name)
  }

  function usedOf({ usedMs, usedAtMs }: Owner): number {
    return usedMs * 2 ** ((usedAtMs - now()) / halfLifeMs)
  }

  const costOf = (owner: Owner) => usedOf(owner) + owner.waitingMs

  function next(): Owner | null {
    let best: Owner | null = null
    for (const owner of waitingOwners) {
      if (owner.held >= perOwner) continue
      if (best === null || costOf(owner) < costOf(best)) best = owner
    }
    return best
  }

  function startWaiting(): void {
    while (running < total && waiting > 0) {
      const owner = next()
      const first = owner?.waiting[0]
      if (!owner || !first) return
      leaveQueue(owner, first)
      first.start(permitFor(owner))
    }
  }

  /** Returns false for work that is not in the queue. */
  function leaveQueue(owner: Owner, entry: Waiting): boolean {
    const index = owner.waiting.indexOf(entry)
    if (index < 0) return false
    clearTimeout(entry.timer)
    owner.waiting.splice(index, 1)
    owner.waitingMs -= entry.expectedMs
    if (owner.waiting.length === 0) waitingOwners.delete(owner)
    waiting--
    return true
  }

  /** Refuses the last piece of work of the owner with the most in the queue, unless that is this one. */
  function makeRoom(owner: Owner): boolean {
    let longest = owner
    for (const each of waitingOwners) if (each.waiting.length > longest.waiting.length) longest = each
    const last = longest === owner ? undefined : longest.waiting.at(-1)
    if (!last) return false
    leaveQueue(longest, last)
    last.start('full')
    return true
  }

  function permitFor(owner: Owner): Permit {
    running++
    owner.held++
    const startedAtMs = now()
    let isRunning = true
    let isHeld = true
    const done = () => {
      if (!isRunning) return
      isRunning = false
      running--
      owner.usedMs = usedOf(owner) + now() - startedAtMs
      owner.usedAtMs = now()
      startWaiting()
    }
    return {
      done,
      release: () => {
        if (!isHeld) return
        isHeld = false
        owner.held--
        done()
        startWaiting()
      }
    }
  }

  function acquire(name: string, expectedMs: number) {
    const owner = ownerNamed(name)
    const isNext = running < total && owner.held < perOwner
    if (!isNext && owner.waiting.length >= waitingPerOwner) return refused('owner-full')
    if (!isNext && waiting >= waitingAtMost && !makeRoom(owner)) return refused('full')
    let leave = (_refusal: PermitRefusal) => {}
    const permit = new Promise<Permit | PermitRefusal>(start => {
      const entry = { expectedMs, start, timer: setTimeout(() => leave('timed-out'), waitMs) }
      leave = refusal => {
        if (leaveQueue(owner, entry)) start(refusal)
      }
      owner.waiting.push(entry)
      owner.waitingMs += expectedMs
      waitingOwners.add(owner)
      waiting++
      startWaiting()
    })
    return { permit, drop: () => leave('dropped') }
  }

  return { acquire }
}

function refused(refusal: PermitRefusal) {
  return { permit: Promise.resolve(refusal), drop: () => {} }
}
