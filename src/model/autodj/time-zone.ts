export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** A period in which the UTC offset of a zone does not change. */
interface OffsetPeriod {
  /** Its first instant; -Infinity if the clock does not change within about two days before. */
  readonly fromMs: number
  /** The first instant after it; Infinity if the clock does not change within about two days after. */
  readonly untilMs: number
  /** Local time minus UTC. */
  readonly offsetMs: number
}

/**
 * The clock of a time zone. Instants are Unix milliseconds, local dates are days since 1970-01-01. Throws a
 * RangeError for an instant outside the range of `Date`.
 */
export interface TimeZone {
  readonly name: string
  span(atMs: number): OffsetPeriod
  localDay(atMs: number): number
  /** The time that the clock shows, in whole minutes: 90 is 01:30. */
  minuteOfDay(atMs: number): number
  /**
   * The instant of a local date and time (930 is 09:30). Returns the instant of the jump for a time that the
   * clock skips, and the first or second instant of a time that occurs twice.
   */
  instant(day: number, hhmm: number, which: 'first' | 'second'): number
}

/** The clock of a zone of the tz database; null for a name that this Node does not know. */
export const findTimeZone: (name: string) => TimeZone | null = memoize(1_000, name => {
  try {
    return makeZone(name)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
})

const utc = makeZone('UTC')

/**
 * The clock of the time zone of a station: UTC for an unknown name. A stored name may be unknown, because the time zone
 * data of Node differs between its versions.
 */
export const getTimeZone = (name: string): TimeZone => findTimeZone(name) ?? utc

function makeZone(name: string): TimeZone {
  const offsetAt = readOffsets(name)
  const yearMs = 365 * dayMs
  // Adjacent days belong to each year, so that all spans around an instant are in one list.
  const marginMs = 2 * dayMs
  const spansOfYear = memoize(64, (year: number) =>
    findSpans(offsetAt, year * yearMs - marginMs, (year + 1) * yearMs + marginMs)
  )
  const spansNear = (atMs: number) => spansOfYear(Math.floor(atMs / yearMs))

  const span = (atMs: number): OffsetPeriod => {
    const spans = spansNear(atMs)
    return spans.find(({ untilMs }) => atMs < untilMs) ?? spans[0]
  }
  const toLocalMs = (atMs: number) => atMs + span(atMs).offsetMs

  return {
    name,
    span,
    localDay: atMs => Math.floor(toLocalMs(atMs) / dayMs),
    minuteOfDay: atMs => {
      const localMs = toLocalMs(atMs)
      return Math.floor((localMs - Math.floor(localMs / dayMs) * dayMs) / minuteMs)
    },
    instant: (day, hhmm, which) => {
      const localMs = day * dayMs + Math.floor(hhmm / 100) * hourMs + (hhmm % 100) * minuteMs
      const spans = spansNear(localMs)
      return which === 'first' ? firstInstant(spans, localMs) : lastInstant(spans, localMs)
    }
  }
}

type OffsetPeriods = readonly [OffsetPeriod, ...OffsetPeriod[]]

function firstInstant(spans: OffsetPeriods, localMs: number): number {
  const span = spans.find(({ untilMs, offsetMs }) => localMs - offsetMs < untilMs) ?? spans[0]
  return Math.max(localMs - span.offsetMs, span.fromMs)
}

function lastInstant(spans: OffsetPeriods, localMs: number): number {
  let lastMs = -Infinity
  for (const { fromMs, untilMs, offsetMs } of spans) {
    if (fromMs <= localMs - offsetMs) lastMs = Math.min(localMs - offsetMs, untilMs)
  }
  return lastMs
}

/** Shorter than any span from 1970 to 2100. */
const minSpanMs = 5 * dayMs

function findSpans(offsetAt: (atMs: number) => number, fromMs: number, toMs: number): OffsetPeriods {
  let last = { fromMs: -Infinity, untilMs: Infinity, offsetMs: offsetAt(fromMs) }
  const spans: [OffsetPeriod, ...OffsetPeriod[]] = [last]
  for (let atMs = fromMs; atMs < toMs;) {
    const nextMs = Math.min(atMs + minSpanMs, toMs)
    if (offsetAt(nextMs) === last.offsetMs) {
      atMs = nextMs
      continue
    }
    atMs = findChange(offsetAt, atMs, nextMs)
    last.untilMs = atMs
    last = { fromMs: atMs, untilMs: Infinity, offsetMs: offsetAt(atMs) }
    spans.push(last)
  }
  return spans
}

/** The second at which the offset changes between two whole seconds, by binary search. */
function findChange(offsetAt: (atMs: number) => number, fromMs: number, toMs: number): number {
  const offsetMs = offsetAt(fromMs)
  let beforeMs = fromMs
  let afterMs = toMs
  while (afterMs - beforeMs > 1_000) {
    const middleMs = beforeMs + Math.floor((afterMs - beforeMs) / 2_000) * 1_000
    if (offsetAt(middleMs) === offsetMs) beforeMs = middleMs
    else afterMs = middleMs
  }
  return afterMs
}

/** Reads the UTC offset at a whole second from the tz database. Slow. */
function readOffsets(timeZone: string): (atMs: number) => number {
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

/** The ISO weekday of a date: 1 is Monday, 7 is Sunday. */
export function isoWeekdayOfDay(day: number): number {
  // 1970-01-01 was a Thursday.
  return ((((day + 3) % 7) + 7) % 7) + 1
}

/** The same local time some days later. */
export function addLocalDays(zone: TimeZone, fromMs: number, days: number): number {
  const minutes = zone.minuteOfDay(fromMs)
  const hhmm = Math.floor(minutes / 60) * 100 + (minutes % 60)
  return zone.instant(zone.localDay(fromMs) + days, hhmm, 'first') + (fromMs % minuteMs)
}

/** Parses `YYYY-MM-DD`. */
export const parseDayNumber = (date: string): number => Date.parse(date) / dayMs

/** Formats a local date as `YYYY-MM-DD`. */
export const formatDayNumber = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** Caches results by key; clears the cache at `limit` keys. */
function memoize<Key, Value>(limit: number, make: (key: Key) => Value): (key: Key) => Value {
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
