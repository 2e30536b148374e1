import { type RandomSource, createSeededRandom } from '../../src/model/autodj/random.ts'

/** Every kind of fault that can be drawn. */
export const faultKinds = [
  'kill-server',
  'kill-workers',
  'kill-uploads',
  'pause-server',
  'pause-workers',
  'kill-postgres',
  'kill-redis',
  'pause-postgres',
  'pause-redis',
  'flush-redis',
  'restore-redis',
  'promote-replica',
  'failover-redis',
  'terminate-backends',
  'lock-table',
  'lock-rows',
  'delay-store',
  'cut-store',
  'half-open-store',
  'clock-forward',
  'clock-back',
  'clock-drift',
  'clock-kill',
  'postgres-clock',
  'disk-full',
  'other-release',
  'poisoned-station'
] as const

export type FaultKind = (typeof faultKinds)[number]

export const isFaultKind = (text: string): text is FaultKind => faultKinds.some(kind => kind === text)

/** One drawn fault. Which members are used depends on the kind. */
export interface Fault {
  /** The number of the fault in a run, from 1. */
  readonly number: number
  readonly kind: FaultKind
  /** Index of the process, and of the store. */
  readonly index: 0 | 1
  readonly role: 'server' | 'workers'
  readonly store: 'postgres' | 'redis'
  readonly forMs: number
  /** The pause after the recovery, before the next fault. */
  readonly restMs: number
  /** A random number from 0 to 1 for other choices. */
  readonly share: number
}

const shortestMs = 1_500
const longestMs = 7_000
const shortestRestMs = 1_000
const longestRestMs = 3_000

/**
 * Draws an endless sequence of faults, determined by seed and kinds. Every kind is drawn once before any is
 * repeated.
 */
export function* drawFaults(seed: number, kinds: readonly FaultKind[]): Generator<Fault, never> {
  const random = createSeededRandom(seed, 1)
  let bag: FaultKind[] = []
  for (let number = 1; ; number++) {
    if (bag.length === 0) bag = shuffled(kinds, random)
    const kind = bag.pop()
    if (kind === undefined) throw new Error('there is no kind of fault to draw from')
    yield {
      number,
      kind,
      index: random() < 0.5 ? 0 : 1,
      role: random() < 0.5 ? 'server' : 'workers',
      store: random() < 0.5 ? 'postgres' : 'redis',
      forMs: between(random, shortestMs, longestMs),
      restMs: between(random, shortestRestMs, longestRestMs),
      share: random()
    }
  }
}

/** A whole number from `least` to `most`. */
export const between = (random: RandomSource, least: number, most: number) =>
  least + Math.floor(random() * (most - least + 1))

/** Returns a random item. Throws for an empty list. */
export function pick<Item>(random: RandomSource, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

function shuffled<Item>(items: readonly Item[], random: RandomSource): Item[] {
  return items
    .map(item => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Describes a fault in one line. */
export function describeFault({ number, kind, index, role, store, forMs }: Fault): string {
  const process = `${role} ${index + 1}`
  const what: Partial<Record<FaultKind, string>> = {
    'kill-server': `of server ${index + 1}`,
    'kill-workers': `of workers ${index + 1}`,
    'kill-uploads': `to server ${index + 1}`,
    'pause-server': `of server ${index + 1}`,
    'pause-workers': `of workers ${index + 1}`,
    'delay-store': `between ${process} and ${store}`,
    'cut-store': `between ${process} and ${store}`,
    'half-open-store': `between ${process} and ${store}`,
    'clock-forward': `of ${process}`,
    'clock-back': `of ${process}`,
    'clock-drift': `of ${process}`,
    'clock-kill': `of workers ${index + 1}`
  }
  return `fault ${number}: ${kind}${what[kind] === undefined ? '' : ` ${what[kind]}`}, ${forMs} ms`
}
