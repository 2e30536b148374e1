import pLimit, { type LimitFunction } from 'p-limit'

const atOnce = 4
const waitingAtMost = 200

/** Bounds how many requests of this process are under way to one host. */
export class HostSlots {
  readonly #limits = new Map<string, LimitFunction>()

  /** Whether so many wait for a host that one more should come back later. */
  isCrowded(host: string): boolean {
    return (this.#limits.get(host)?.pendingCount ?? 0) >= waitingAtMost
  }

  /** Runs `work` once one of the host's slots is free. */
  async run<Result>(host: string, work: () => Promise<Result>): Promise<Result> {
    const limit = this.#limits.get(host) ?? pLimit(atOnce)
    this.#limits.set(host, limit)
    try {
      return await limit(work)
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#limits.delete(host)
    }
  }
}
