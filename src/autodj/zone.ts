export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** A stretch of time in which a zone's clock runs evenly: no jump and no turning back. */
export interface Span {
  /** Its first instant. Infinite where the clock does not change for two days or more. */
  readonly fromMs: number
  /** The first instant after it. Infinite where the clock does not change for two days or more. */
  readonly untilMs: number
  /** What the clock shows beyond UTC. */
  readonly offsetMs: number
}

/**
 * The local clock of a time zone. Instants are milliseconds since 1970 (UTC); local dates are days since
 * 1970-01-01. Instants that `Date` does not know throw a RangeError.
 */
export interface Zone {
  readonly name: string
  span(atMs: number): Span
  localDay(atMs: number): number
  /**
   * Whole minutes on the clock since 00:00; on a day on which the clock changes this is not the time since
   * its start.
   */
  minuteOfDay(atMs: number): number
  /**
   * When the clock shows a time (HHMM as a number: 930 is 09:30) of a local date. A time that the clock skips
   * is the instant of the jump; of a time shown twice it is the first or the second instant, as asked.
   */
  instant(day: number, hhmm: number, which: 'first' | 'second'): number
}

/** The clock of a zone of the tz database. Throws a RangeError for a name that is none. */
export function openZone(name: string): Zone {
  return zones(name)
}

const zones = remember(1_000, makeZone)

function makeZone(name: string): Zone {
  const offsetAt = offsetsOf(name)
  const yearMs = 365 * dayMs
  // A year is read with what lies around it, so that whatever is near an instant is found in one year.
  const marginMs = 2 * dayMs
  const spansOfYear = remember(64, (year: number) =>
    spansBetween(offsetAt, year * yearMs - marginMs, (year + 1) * yearMs + marginMs)
  )
  const spansNear = (atMs: number) => spansOfYear(Math.floor(atMs / yearMs))

  const span = (atMs: number): Span => {
    const spans = spansNear(atMs)
    return spans.find(({ untilMs }) => atMs < untilMs) ?? spans[0]
  }
  const localMs = (atMs: number) => atMs + span(atMs).offsetMs

  return {
    name,
    span,
    localDay: atMs => Math.floor(localMs(atMs) / dayMs),
    minuteOfDay: atMs => {
      const shownMs = localMs(atMs)
      return Math.floor((shownMs - Math.floor(shownMs / dayMs) * dayMs) / minuteMs)
    },
    instant: (day, hhmm, which) => {
      const shownMs = day * dayMs + Math.floor(hhmm / 100) * hourMs + (hhmm % 100) * minuteMs
      const spans = spansNear(shownMs)
      return which === 'first' ? firstShown(spans, shownMs) : lastShown(spans, shownMs)
    }
  }
}

type Spans = readonly [Span, ...Span[]]

/** The first instant at which the clock shows a time; the instant of the jump if it skips it. */
function firstShown(spans: Spans, shownMs: number): number {
  const span = spans.find(({ untilMs, offsetMs }) => shownMs - offsetMs < untilMs) ?? spans[0]
  return Math.max(shownMs - span.offsetMs, span.fromMs)
}

/** The last instant at which the clock shows a time; the instant of the jump if it skips it. */
function lastShown(spans: Spans, shownMs: number): number {
  let lastMs = -Infinity
  for (const { fromMs, untilMs, offsetMs } of spans) {
    if (fromMs <= shownMs - offsetMs) lastMs = Math.min(shownMs - offsetMs, untilMs)
  }
  return lastMs
}

/** Less than lies between two changes of a clock: never under an hour less than a week, from 1970 to 2100. */
const sampleMs = 5 * dayMs

function spansBetween(offsetAt: (atMs: number) => number, fromMs: number, toMs: number): Spans {
  let last = { fromMs: -Infinity, untilMs: Infinity, offsetMs: offsetAt(fromMs) }
  const spans: [Span, ...Span[]] = [last]
  for (let atMs = fromMs; atMs < toMs;) {
    const nextMs = Math.min(atMs + sampleMs, toMs)
    if (offsetAt(nextMs) === last.offsetMs) {
      atMs = nextMs
      continue
    }
    atMs = changeBetween(offsetAt, atMs, nextMs)
    last.untilMs = atMs
    last = { fromMs: atMs, untilMs: Infinity, offsetMs: offsetAt(atMs) }
    spans.push(last)
  }
  return spans
}

/** The second at which the offset of `evenMs` ends, of two whole seconds with different offsets. */
function changeBetween(offsetAt: (atMs: number) => number, evenMs: number, changedMs: number): number {
  const offsetMs = offsetAt(evenMs)
  let beforeMs = evenMs
  let afterMs = changedMs
  while (afterMs - beforeMs > 1_000) {
    const middleMs = beforeMs + Math.floor((afterMs - beforeMs) / 2_000) * 1_000
    if (offsetAt(middleMs) === offsetMs) beforeMs = middleMs
    else afterMs = middleMs
  }
  return afterMs
}

/** Asks the tz database what the clock of a zone shows beyond UTC at a whole second. Exact, but slow. */
function offsetsOf(timeZone: string): (atMs: number) => number {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric'
  })
  return atMs => {
    const shown = clock.format(atMs).match(/\d+/g) ?? []
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = shown.map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second) - atMs
  }
}

/** The ISO day of the week of a date: 1 is Monday, 7 is Sunday. */
export function weekday(day: number): number {
  // 1970-01-01 was a Thursday.
  return ((((day + 3) % 7) + 7) % 7) + 1
}

/** The local date of a text (`YYYY-MM-DD`). */
export function dayOf(date: string): number {
  return Date.parse(date) / dayMs
}

/** A local date as text: `YYYY-MM-DD`. */
export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Makes each value once. All are forgotten when they become too many, so that no input fills the memory. */
function remember<Key, Value>(limit: number, make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    const old = known.get(key)
    if (old !== undefined) return old
    const value = make(key)
    if (known.size >= limit) known.clear()
    known.set(key, value)
    return value
  }
}

/** A source of numbers in 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/**
 * A generator for one slot: the same seed and slot always give the same numbers, so a step that is computed
 * twice chooses the same. The mixing is that of SplitMix32.
 */
export function randomOf(seed: number, slot: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(slot, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    return mixed(state) / 4_294_967_296
  }
}

/** A place in a shuffled order: 32 bits of a hash of the seed, the run and the track. */
export function shuffledPlace(seed: number, run: number, trackId: number): number {
  const low = mixed((Math.imul(run, 0x9e3779b1) ^ seed) >>> 0)
  return mixed(
    (low + Math.imul(trackId, 0x85ebca6b) + Math.imul(Math.floor(trackId / 4_294_967_296), 0xc2b2ae35)) >>> 0
  )
}

function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
