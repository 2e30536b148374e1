/** Limits of running and waiting work; without a number there is none. An owner, such as an address, has its own. */
interface FairSemaphoreOptions {
  /** Work running at once, over all owners. */
  readonly total?: number
  /** Permits of one owner that are not released. */
  readonly perOwner?: number
  readonly waitingPerOwner?: number
  readonly waiting?: number
  /** How long work may wait for a permit. */
  readonly waitMs?: number
}

/** Why there is no permit: a queue is full, the wait timed out, or it was dropped. */
export type PermitRefusal = 'owner-full' | 'full' | 'timed-out' | 'dropped'

/** Permission to run. Both functions are idempotent. */
export interface Permit {
  /** The work is done, so other work may run. The permit still counts for its owner. */
  readonly done: () => void
  /** Frees the permit. */
  readonly release: () => void
}

export type FairSemaphore = ReturnType<typeof openFairSemaphore>

interface Waiting {
  readonly expectedMs: number
  readonly start: (result: Permit | PermitRefusal) => void
  readonly timer: NodeJS.Timeout | undefined
}

interface Owner {
  permits: number
  /** Running time of the owner's work in milliseconds, which halves every `halfLifeMs`. */
  usedMs: number
  usedAtMs: number
  readonly waiting: Waiting[]
  /** Expected duration of all waiting work. */
  waitingMs: number
}

const halfLifeMs = 10_000
/** Maximum number of owners that are kept without work; the least recently used is removed first. */
const maxOwners = 10_000

/**
 * Opens a semaphore with fair queuing: the owner whose recent use plus waiting work is the smallest runs
 * next. An owner with much work, or many owners at once, hardly delay an owner with little.
 */
export function openFairSemaphore(options: FairSemaphoreOptions, now = () => performance.now()) {
  const { total = Infinity, perOwner = Infinity, waitingPerOwner = Infinity } = options
  const { waiting: maxWaiting = Infinity, waitMs = Infinity } = options
  const owners = new Map<string, Owner>()
  const waitingOwners = new Set<Owner>()
  let running = 0
  let waiting = 0

  function useOwner(name: string): Owner {
    const owner = owners.get(name) ?? { permits: 0, usedMs: 0, usedAtMs: now(), waiting: [], waitingMs: 0 }
    owners.delete(name)
    owners.set(name, owner)
    if (owners.size > maxOwners) removeIdleOwner()
    return owner
  }

  function removeIdleOwner(): void {
    for (const [name, { permits, waiting: own }] of owners)
      if (permits === 0 && own.length === 0) return void owners.delete(name)
  }

  const decayedUseMs = ({ usedMs, usedAtMs }: Owner) => usedMs * 2 ** ((usedAtMs - now()) / halfLifeMs)

  const costMs = (owner: Owner) => decayedUseMs(owner) + owner.waitingMs

  function findNext(): Owner | null {
    let best: Owner | null = null
    for (const owner of waitingOwners) {
      if (owner.permits >= perOwner) continue
      if (best === null || costMs(owner) < costMs(best)) best = owner
    }
    return best
  }

  function startWaiting(): void {
    while (running < total && waiting > 0) {
      const owner = findNext()
      const first = owner?.waiting[0]
      if (!owner || !first) return
      leaveQueue(owner, first)
      first.start(openPermit(owner))
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

  /** Refuses the last work of the owner with the longest queue. Returns false if that is this owner. */
  function dropLongestWaiting(owner: Owner): boolean {
    let longest = owner
    for (const each of waitingOwners) if (each.waiting.length > longest.waiting.length) longest = each
    const last = longest === owner ? undefined : longest.waiting.at(-1)
    if (!last) return false
    leaveQueue(longest, last)
    last.start('full')
    return true
  }

  function openPermit(owner: Owner): Permit {
    running++
    owner.permits++
    const startedAtMs = now()
    let isRunning = true
    let isReleased = false
    const done = () => {
      if (!isRunning) return
      isRunning = false
      running--
      owner.usedMs = decayedUseMs(owner) + now() - startedAtMs
      owner.usedAtMs = now()
      startWaiting()
    }
    return {
      done,
      release: () => {
        if (isReleased) return
        isReleased = true
        owner.permits--
        done()
        startWaiting()
      }
    }
  }

  /** Waits for a permit for work of about `expectedMs`. `drop` cancels the wait. */
  function acquire(name: string, expectedMs: number) {
    const owner = useOwner(name)
    const isNext = running < total && owner.permits < perOwner
    if (!isNext && owner.waiting.length >= waitingPerOwner) return refuse('owner-full')
    if (!isNext && waiting >= maxWaiting && !dropLongestWaiting(owner)) return refuse('full')
    let leave = (_refusal: PermitRefusal) => {}
    const permit = new Promise<Permit | PermitRefusal>(start => {
      const timer = waitMs === Infinity ? undefined : setTimeout(() => leave('timed-out'), waitMs)
      const entry = { expectedMs, start, timer }
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

  return {
    acquire,
    /** A permit if one is free now, else null. */
    tryAcquire: (name: string): Permit | null => {
      const owner = useOwner(name)
      return running < total && owner.permits < perOwner ? openPermit(owner) : null
    },
    /** Runs work once it has a permit. Throws if it gets none. */
    run: async <Result>(work: () => Promise<Result>, owner = ''): Promise<Result> => {
      const permit = await acquire(owner, 0).permit
      if (typeof permit === 'string') throw new Error(`no permit: ${permit}`)
      try {
        return await work()
      } finally {
        permit.release()
      }
    },
    /** The number of waiting permits of an owner. */
    waitingOf: (owner = ''): number => owners.get(owner)?.waiting.length ?? 0
  }
}

const refuse = (refusal: PermitRefusal) => ({
  permit: Promise.resolve<Permit | PermitRefusal>(refusal),
  drop: () => {}
})
