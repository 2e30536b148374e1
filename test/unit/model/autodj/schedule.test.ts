import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  lastHourlyTarget,
  nextHourlyTarget,
  findNextWindowStart,
  type ScheduleItem,
  type ScheduleWindow,
  findWindowAt,
  findWindowOnDay,
  listWindowsBetween
} from '../../../../src/model/autodj/schedule.ts'
import {
  dayMs,
  hourMs,
  minuteMs,
  getTimeZone,
  parseDayNumber,
  type TimeZone
} from '../../../../src/model/autodj/time-zone.ts'
import { sized } from '../../../support/tier.ts'
import { changesOf, zones, sweepFromMs, sweepToMs } from '../../../support/zones.ts'

const utc = getTimeZone('UTC')
const berlin = getTimeZone('Europe/Berlin')

/** `2200-0400` as an item. */
function anItem(times: string, parts: Partial<ScheduleItem> = {}): ScheduleItem {
  const [start_time = 0, end_time = 0] = times.split('-').map(Number)
  return { id: 1, start_time, end_time, start_date: '', end_date: '', days: [], loop_once: false, ...parts }
}

const shown = (window: ScheduleWindow | null): string | null =>
  window && `${new Date(window.startMs).toISOString()} ${new Date(window.endMs).toISOString()}`

const between = (from: string, to: string): string =>
  `${new Date(from).toISOString()} ${new Date(to).toISOString()}`

describe('an item is active', () => {
  const overnight = anItem('2200-0400', { days: [1, 2, 3] })
  const dated = (times: string, start_date: string, end_date: string) =>
    anItem(times, { start_date, end_date })
  const oneNight = dated('2200-0200', '2025-11-13', '2025-11-13')
  const sameNight = dated('2200-0200', '2025-11-13', '2025-11-14')
  const twoNights = dated('2200-0200', '2025-11-13', '2025-11-15')
  const toMidnight = dated('2200-0000', '2025-11-13', '2025-11-14')
  const once = anItem('2355-2355', { days: [5] })
  const london = anItem('1600-2100', { start_date: '2024-09-16', end_date: '2024-09-16' })
  const auckland = anItem('0900-1000', { days: [1] })

  test.each<[string, ScheduleItem, string, boolean]>([
    ['UTC', overnight, '2018-01-15T22:00:00Z', true],
    ['UTC', overnight, '2018-01-15T22:30:00Z', true],
    ['UTC', overnight, '2018-01-18T03:00:00Z', true],
    ['UTC', overnight, '2018-01-18T03:59:59Z', true],
    ['UTC', overnight, '2018-01-15T03:00:00Z', false],
    ['UTC', overnight, '2018-01-18T04:00:00Z', false],
    ['UTC', overnight, '2018-01-18T22:30:00Z', false],
    ['UTC', oneNight, '2025-11-13T23:00:00Z', true],
    ['UTC', oneNight, '2025-11-14T01:00:00Z', true],
    ['UTC', oneNight, '2025-11-13T01:00:00Z', false],
    ['UTC', oneNight, '2025-11-14T23:00:00Z', false],
    ['UTC', sameNight, '2025-11-13T23:00:00Z', true],
    ['UTC', sameNight, '2025-11-14T01:00:00Z', true],
    ['UTC', sameNight, '2025-11-13T01:00:00Z', false],
    ['UTC', sameNight, '2025-11-14T23:00:00Z', false],
    ['UTC', twoNights, '2025-11-13T23:00:00Z', true],
    ['UTC', twoNights, '2025-11-14T01:00:00Z', true],
    ['UTC', twoNights, '2025-11-14T23:00:00Z', true],
    ['UTC', twoNights, '2025-11-15T01:00:00Z', true],
    ['UTC', twoNights, '2025-11-15T23:00:00Z', false],
    ['UTC', toMidnight, '2025-11-13T23:00:00Z', true],
    ['UTC', toMidnight, '2025-11-14T23:00:00Z', true],
    ['UTC', toMidnight, '2025-11-15T23:00:00Z', false],
    ['UTC', once, '2026-01-09T23:55:00Z', true],
    ['UTC', once, '2026-01-10T00:09:59Z', true],
    ['UTC', once, '2026-01-09T00:05:00Z', false],
    ['UTC', once, '2026-01-09T23:54:59Z', false],
    ['UTC', once, '2026-01-10T00:10:00Z', false],
    ['Europe/London', london, '2024-09-16T15:00:00Z', true],
    ['Europe/London', london, '2024-09-16T19:14:00Z', true],
    ['Europe/London', london, '2024-09-16T14:59:59Z', false],
    ['Europe/London', london, '2024-09-16T20:00:00Z', false],
    ['Pacific/Auckland', auckland, '2026-01-11T20:30:00Z', true],
    ['Pacific/Auckland', auckland, '2026-01-12T20:30:00Z', false]
  ])('%s %j at %s: %j', (name, item, at, isActive) => {
    expect(findWindowAt(getTimeZone(name), [item], Date.parse(at)) !== null).toBe(isActive)
  })
})

describe('windows of Europe/Berlin', () => {
  const spring = '2026-03-29'
  const autumn = '2026-10-25'

  test.each([
    ['0200-0300', spring, null],
    ['0130-0230', spring, between('2026-03-29T00:30Z', '2026-03-29T01:00Z')],
    ['0230-0330', spring, between('2026-03-29T01:00Z', '2026-03-29T01:30Z')],
    ['0230-0230', spring, between('2026-03-29T01:00Z', '2026-03-29T01:15Z')],
    ['0100-0400', spring, between('2026-03-29T00:00Z', '2026-03-29T02:00Z')],
    ['2200-0400', '2026-03-28', between('2026-03-28T21:00Z', '2026-03-29T02:00Z')],
    ['0200-0300', autumn, between('2026-10-25T00:00Z', '2026-10-25T02:00Z')],
    ['0130-0230', autumn, between('2026-10-24T23:30Z', '2026-10-25T01:30Z')],
    ['0230-0330', autumn, between('2026-10-25T00:30Z', '2026-10-25T02:30Z')],
    ['0230-0230', autumn, between('2026-10-25T00:30Z', '2026-10-25T00:45Z')],
    ['0100-0400', autumn, between('2026-10-24T23:00Z', '2026-10-25T03:00Z')],
    ['2200-0400', '2026-10-24', between('2026-10-24T20:00Z', '2026-10-25T03:00Z')]
  ])('%s of %s', (times, date, window) => {
    expect(shown(findWindowOnDay(berlin, anItem(times), parseDayNumber(date)))).toBe(window)
  })

  test('a time that occurs twice opens 15 minutes once', () => {
    const [from, to] = [Date.parse('2026-10-24T22:00Z'), Date.parse('2026-10-25T23:00Z')]
    expect(listWindowsBetween(berlin, [anItem('0230-0230')], from, to)).toHaveLength(1)
  })

  test('an item of almost 24 hours ends where it begins again', () => {
    const item = anItem('0230-0215')
    expect(shown(findWindowOnDay(berlin, item, parseDayNumber('2026-10-24')))).toBe(
      between('2026-10-24T00:30Z', '2026-10-25T00:30Z')
    )
    // On Saturdays only: no window begins on Sunday.
    expect(shown(findWindowOnDay(berlin, { ...item, days: [6] }, parseDayNumber('2026-10-24')))).toBe(
      between('2026-10-24T00:30Z', '2026-10-25T01:15Z')
    )
  })
})

describe('a date that the clock skips', () => {
  const apia = getTimeZone('Pacific/Apia')
  const skipped = parseDayNumber('2011-12-30')

  test('has no window of its own hours', () => {
    expect(findWindowOnDay(apia, anItem('0900-1700'), skipped)).toBeNull()
    expect(findWindowOnDay(apia, anItem('0000-0000'), skipped)).toBeNull()
  })

  test('ends the night before it, and the next night keeps its morning', () => {
    const night = anItem('2200-0400')
    expect(shown(findWindowOnDay(apia, night, skipped - 1))).toBe(
      between('2011-12-30T08:00Z', '2011-12-30T10:00Z')
    )
    expect(shown(findWindowOnDay(apia, night, skipped))).toBe(
      between('2011-12-30T10:00Z', '2011-12-30T14:00Z')
    )
  })
})

describe('of several items', () => {
  const base = anItem('0600-1800', { id: 1 })
  const show = anItem('1000-1200', { id: 2 })
  const twin = anItem('1000-1100', { id: 3 })
  const openAt = (time: string) =>
    findWindowAt(utc, [base, show, twin], Date.parse(`2026-01-15T${time}Z`))?.item.id

  test('the one that began last is open, of equal starts the first', () => {
    expect(['05:59:59.999', '06:00', '09:59:59.999', '10:00', '11:59', '12:00', '18:00'].map(openAt)).toEqual(
      [undefined, 1, 1, 2, 2, 1, undefined]
    )
  })

  test('also if the calendar skips a date and windows of two dates begin together', () => {
    const apia = getTimeZone('Pacific/Apia')
    const today = anItem('0000-0100', { id: 1, start_date: '2011-12-31', end_date: '2011-12-31' })
    const skipped = anItem('2300-0200', { id: 2, start_date: '2011-12-30', end_date: '2011-12-30' })
    const atMs = Date.parse('2011-12-30T10:30Z')
    expect(findWindowAt(apia, [today, skipped], atMs)?.item.id).toBe(1)
    expect(
      listWindowsBetween(apia, [today, skipped], atMs, atMs + minuteMs).map(({ item, startMs }) => [
        item.id,
        startMs
      ])
    ).toEqual([
      [1, Date.parse('2011-12-30T10:00Z')],
      [2, Date.parse('2011-12-30T10:00Z')]
    ])
  })

  test('windows that overlap the range are sorted by start, then by item', () => {
    const windows = (from: string, to: string) =>
      listWindowsBetween(utc, [twin, show, base], Date.parse(from), Date.parse(to)).map(({ item }) => item.id)
    expect(windows('2026-01-15T00:00Z', '2026-01-16T00:00Z')).toEqual([1, 3, 2])
    expect(windows('2026-01-15T11:00Z', '2026-01-15T11:01Z')).toEqual([1, 2])
    expect(windows('2026-01-15T12:00Z', '2026-01-15T12:01Z')).toEqual([1])
    expect(windows('2026-01-15T09:00Z', '2026-01-15T10:00Z')).toEqual([1])
    expect(windows('2026-01-15T11:00Z', '2026-01-15T11:00Z')).toEqual([])
    expect(windows('2026-01-15T18:00Z', '2026-01-16T06:00Z')).toEqual([])
  })

  test('a range is limited to 366 days', () => {
    expect(listWindowsBetween(utc, [show], Date.parse('2026-01-01'), Infinity)).toHaveLength(366)
  })

  test('the next opening is after the instant and within the given time', () => {
    const next = (at: string, withinMs: number) => {
      const opening = findNextWindowStart(utc, [base, show], Date.parse(at), withinMs)
      return opening === null ? null : new Date(opening).toISOString()
    }
    expect(next('2026-01-15T05:59:59.999Z', dayMs)).toBe('2026-01-15T06:00:00.000Z')
    expect(next('2026-01-15T06:00Z', dayMs)).toBe('2026-01-15T10:00:00.000Z')
    expect(next('2026-01-15T06:00Z', 4 * hourMs)).toBe('2026-01-15T10:00:00.000Z')
    expect(next('2026-01-15T06:00Z', 4 * hourMs - 1)).toBeNull()
    expect(next('2026-01-15T10:00Z', dayMs)).toBe('2026-01-16T06:00:00.000Z')
    expect(findNextWindowStart(utc, [], 0, Infinity)).toBeNull()
    expect(
      findNextWindowStart(
        utc,
        [anItem('1000-1100', { end_date: '2026-01-14' })],
        Date.parse('2026-01-15'),
        Infinity
      )
    ).toBeNull()
  })
})

// On 2010-11-07, a Sunday, the clock went from 00:01 back to 23:01 of the day before.
test.each([
  ['the day that had already begun', anItem('0000-0100', { days: [7] }), '2010-11-07T02:45Z'],
  ['the night that still went on', anItem('2359-2358', { days: [5] }), '2010-11-07T02:30:30Z']
])('a clock that goes back over midnight leaves %s its window', (_, item, at) => {
  const zone = getTimeZone('America/St_Johns')
  const atMs = Date.parse(at)
  expect(findWindowAt(zone, [item], atMs)?.item).toBe(item)
  expect(listWindowsBetween(zone, [item], atMs, atMs + 1)).toHaveLength(1)
})

test('14:00-16:00 and 16:00-18:00 never overlap', () => {
  const wrong: string[] = []
  for (const zone of zones) {
    for (const day of [parseDayNumber('2026-01-15'), ...changesOf(zone).map(atMs => zone.localDay(atMs))]) {
      const early = findWindowOnDay(zone, anItem('1400-1600'), day)
      const late = findWindowOnDay(zone, anItem('1600-1800'), day)
      if (!early || early.endMs !== late?.startMs) wrong.push(`${zone.name}: ${shown(early)}, ${shown(late)}`)
    }
  }
  expect(wrong).toEqual([])
})

describe('the hourly target', () => {
  const quarter = 15 * minuteMs

  test.each<[string, number, string, boolean]>([
    ['UTC', 50, '2026-01-15T23:59:00Z', true],
    ['UTC', 50, '2026-01-15T12:04:00Z', true],
    ['UTC', 50, '2026-01-15T12:05:00Z', true],
    ['UTC', 50, '2026-01-15T23:49:00Z', false],
    ['UTC', 50, '2026-01-15T12:06:00Z', false],
    ['Asia/Kolkata', 0, '2026-01-15T00:30:00Z', true],
    ['Asia/Kolkata', 0, '2026-01-15T00:00:00Z', false],
    ['Asia/Kolkata', 0, '2026-01-15T00:46:00Z', false],
    ['Asia/Kathmandu', 0, '2026-01-15T00:15:00Z', true],
    ['Asia/Kathmandu', 0, '2026-01-15T00:20:00Z', true],
    ['Asia/Kathmandu', 0, '2026-01-15T00:00:00Z', false]
  ])('%s, minute %i, at %s is at most 15 minutes ago: %j', (name, minute, at, isNear) => {
    const atMs = Date.parse(at)
    expect(atMs - lastHourlyTarget(getTimeZone(name), minute, atMs) <= quarter).toBe(isNear)
  })

  /** Targets of one local date. */
  function targetsOf(zone: TimeZone, minute: number, day: number): number[] {
    const targets: number[] = []
    let atMs = nextHourlyTarget(zone, minute, zone.instant(day, 0, 'first') - dayMs)
    for (; atMs < zone.instant(day + 1, 0, 'second') + dayMs; atMs = nextHourlyTarget(zone, minute, atMs)) {
      if (zone.localDay(atMs) === day) targets.push(atMs)
    }
    return targets
  }

  test.each([
    ['Europe/Berlin', 30, '2026-03-29', 23],
    ['Europe/Berlin', 30, '2026-06-01', 24],
    ['Europe/Berlin', 30, '2026-10-25', 25],
    ['Antarctica/Troll', 0, '2024-03-31', 22],
    ['Antarctica/Troll', 0, '2024-10-27', 26],
    ['Australia/Lord_Howe', 0, '2024-04-07', 24],
    ['Australia/Lord_Howe', 30, '2024-04-07', 25],
    ['Australia/Lord_Howe', 45, '2024-04-07', 25],
    ['Australia/Lord_Howe', 0, '2024-10-06', 23],
    ['Australia/Lord_Howe', 15, '2024-10-06', 23],
    ['Australia/Lord_Howe', 30, '2024-10-06', 24],
    ['Pacific/Apia', 0, '2011-12-30', 0]
  ])('%s, minute %i, on %s: %i targets', (name, minute, date, count) => {
    expect(targetsOf(getTimeZone(name), minute, parseDayNumber(date))).toHaveLength(count)
  })

  test('identifies the occurrences of an hourly playlist', () => {
    const occurrence = (time: string) => lastHourlyTarget(utc, 0, Date.parse(`2026-01-15T${time}Z`))
    expect(occurrence('13:00')).not.toBe(occurrence('12:00'))
    expect(occurrence('13:10')).toBe(occurrence('13:00'))
  })

  test('is the latest one: the next one is in the future', { timeout: 60_000 }, () => {
    const anInstant = fc.constantFrom(...zones).chain(zone =>
      fc.tuple(
        fc.constant(zone),
        fc.oneof(
          fc.integer({ min: sweepFromMs, max: sweepToMs }),
          fc
            .tuple(
              fc.constantFrom(...changesOf(zone), sweepFromMs),
              fc.integer({ min: -4 * hourMs, max: 4 * hourMs })
            )
            .map(([changeMs, asideMs]) => changeMs + asideMs)
        ),
        fc.integer({ min: 0, max: 59 })
      )
    )
    fc.assert(
      fc.property(anInstant, ([zone, atMs, minute]) => {
        const target = lastHourlyTarget(zone, minute, atMs)
        const next = nextHourlyTarget(zone, minute, atMs)
        expect(target).toBeLessThanOrEqual(atMs)
        expect(next).toBeGreaterThan(atMs)
        expect(nextHourlyTarget(zone, minute, target)).toBe(next)
        expect(lastHourlyTarget(zone, minute, next - 1)).toBe(target)
        expect(lastHourlyTarget(zone, minute, next)).toBe(next)
        expect(zone.minuteOfDay(target) % 60).toBe(minute)
        expect((target + zone.span(target).offsetMs) % minuteMs).toBe(0)
      }),
      { numRuns: sized({ quick: 70, deep: 4_000 }) }
    )
  })

  test(
    'comes once in every real hour of a local day, wherever and whenever clocks jump',
    { timeout: 60_000 },
    () => {
      const wrong: string[] = []
      const step = sized({ quick: 3, deep: 1 })
      for (const zone of zones) {
        const changes = changesOf(zone).filter((_, index) => index % step === 0)
        const [anywhere = 0, minute = 0] = fc.sample(fc.nat({ max: 5_843 }), 2)
        const days = changes.flatMap(atMs => [zone.localDay(atMs - 1), zone.localDay(atMs)])
        for (const day of new Set([...days, parseDayNumber('2020-01-01') + anywhere])) {
          const minutes: number[] = []
          const endMs = zone.instant(day + 1, 0, 'second') + 4 * hourMs
          for (let atMs = zone.instant(day, 0, 'first') - 4 * hourMs; atMs < endMs; atMs += minuteMs) {
            if (zone.localDay(atMs) === day) minutes.push(atMs)
          }
          const targets = targetsOf(zone, minute % 60, day)
          const expected = minutes.filter(atMs => zone.minuteOfDay(atMs) % 60 === minute % 60)
          const areHours = minutes.length % 60 === 0
          if (targets.join() !== expected.join() || (areHours && targets.length !== minutes.length / 60)) {
            wrong.push(`${zone.name} ${day} ${minute % 60}`)
          }
        }
      }
      expect(wrong).toEqual([])
    }
  )
})

const aTime = fc.integer({ min: 0, max: 1_439 }).map(hhmmOf)

/** HHMM of minutes since 00:00, which may be on the day before or after. */
function hhmmOf(minute: number): number {
  const ofDay = ((minute % 1_440) + 1_440) % 1_440
  return Math.floor(ofDay / 60) * 100 + (ofDay % 60)
}

/** Times near unusual clock changes, or any. */
function timesNear(zone: TimeZone, changes: readonly number[]): fc.Arbitrary<number> {
  if (changes.length === 0) return aTime
  const aside = fc.integer({ min: -70, max: 70 })
  const near = fc
    .tuple(fc.constantFrom(...changes.flatMap(atMs => [atMs - 1, atMs])), aside)
    .map(([atMs, minutes]) => hhmmOf(zone.minuteOfDay(atMs) + minutes))
  return fc.oneof(aTime, near)
}

/** Items on all or some days; equal and nearly equal times are frequent. */
function itemsOf(time: fc.Arbitrary<number>): fc.Arbitrary<ScheduleItem> {
  const times = fc.oneof(
    fc.tuple(time, time),
    fc.tuple(time, fc.integer({ min: 0, max: 60 })).map(([start, before]): [number, number] => {
      const minute = Math.floor(start / 100) * 60 + (start % 100)
      return [start, hhmmOf(minute - before)]
    })
  )
  const days = fc.oneof(fc.constant([]), fc.uniqueArray(fc.integer({ min: 1, max: 7 })))
  return fc
    .record({ times, days })
    .map(({ times: [start_time, end_time], days: on }) => anItem('', { start_time, end_time, days: on }))
}

/**
 * The faults of an item's windows: each must have a length, and end before the next begins.
 */
function problems(zone: TimeZone, item: ScheduleItem, days: Iterable<number>): string[] {
  const found: string[] = []
  let last: ScheduleWindow | null = null
  for (const day of days) {
    const window = findWindowOnDay(zone, item, day)
    if (!window) continue
    const isGood = window.startMs < window.endMs && (last === null || last.endMs <= window.startMs)
    if (!isGood) found.push(`${zone.name} ${JSON.stringify(item)}: ${shown(last)}, ${shown(window)}`)
    last = window
  }
  return found
}

function* daysFrom(first: number, last: number): Generator<number> {
  for (let day = first; day <= last; day++) yield day
}

describe('windows of one item never overlap', () => {
  test('in any zone on every day from 2020 to 2035', { timeout: 60_000 }, () => {
    const wrong: string[] = []
    for (const zone of zones) {
      for (const item of fc.sample(itemsOf(timesNear(zone, changesOf(zone))), 2)) {
        wrong.push(
          ...problems(zone, item, daysFrom(parseDayNumber('2020-01-01'), parseDayNumber('2035-12-31')))
        )
      }
    }
    expect(wrong).toEqual([])
  })

  test('in any zone around each change of its clock', { timeout: 60_000 }, () => {
    const wrong: string[] = []
    for (const zone of zones) {
      const changes = changesOf(zone)
      const items = fc.sample(itemsOf(timesNear(zone, changes)), 30)
      for (const changeMs of changes) {
        const day = zone.localDay(changeMs)
        for (const item of items) wrong.push(...problems(zone, item, daysFrom(day - 3, day + 3)))
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('ranges', () => {
  const oddPlaces = zones.flatMap(zone => changesOf(zone).map(changeMs => ({ zone, changeMs })))
  const odd = fc.oneof(
    fc.constantFrom(...oddPlaces),
    // The clock went back from 00:01 to 23:01, and over a whole day.
    fc.constantFrom(
      { zone: getTimeZone('America/St_Johns'), changeMs: Date.parse('2010-11-07T02:31Z') },
      { zone: getTimeZone('Pacific/Apia'), changeMs: Date.parse('2011-12-30T10:00Z') }
    )
  )
  const someItems = ({ zone, changeMs }: { zone: TimeZone; changeMs: number }) =>
    fc.record({
      zone: fc.constant(zone),
      items: fc.array(itemsOf(timesNear(zone, [changeMs])), { minLength: 1, maxLength: 4 }),
      fromMs: fc.integer({ min: -2_880, max: 0 }).map(minutes => changeMs + minutes * minuteMs),
      minutes: fc.integer({ min: 1, max: 2_880 })
    })

  /** Every window of the items on dates near an instant, by start. */
  const windowsAround = (zone: TimeZone, items: readonly ScheduleItem[], atMs: number): ScheduleWindow[] =>
    items
      .flatMap(item => {
        const days = [...daysFrom(zone.localDay(atMs) - 5, zone.localDay(atMs) + 8)]
        return days.flatMap(day => findWindowOnDay(zone, item, day) ?? [])
      })
      .toSorted((a, b) => a.startMs - b.startMs)

  test('contain all windows that overlap them', () => {
    fc.assert(
      fc.property(odd.chain(someItems), ({ zone, items, fromMs, minutes }) => {
        const toMs = fromMs + minutes * minuteMs
        expect(listWindowsBetween(zone, items, fromMs, toMs)).toEqual(
          windowsAround(zone, items, fromMs).filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs)
        )
      }),
      { numRuns: sized({ quick: 40, deep: 2_000 }) }
    )
  })

  test('agree with the open window minute by minute', () => {
    fc.assert(
      fc.property(odd.chain(someItems), ({ zone, items, fromMs, minutes }) => {
        const toMs = fromMs + minutes * minuteMs
        const windows = listWindowsBetween(zone, items, fromMs, toMs)
        const wrong: string[] = []
        for (let atMs = fromMs; atMs < toMs; atMs += minuteMs) {
          const open = windows.filter(({ startMs, endMs }) => startMs <= atMs && atMs < endMs)
          const newestMs = open.at(-1)?.startMs
          const expected = open.find(({ startMs }) => startMs === newestMs)
          const found = findWindowAt(zone, items, atMs)
          if (found?.startMs !== expected?.startMs || found?.item !== expected?.item) {
            wrong.push(`${zone.name} at ${atMs}: ${shown(found)}, not ${shown(expected ?? null)}`)
          }
        }
        expect(wrong).toEqual([])
      }),
      { numRuns: sized({ quick: 20, deep: 300 }) }
    )
  })

  test('begin with the next opening', () => {
    fc.assert(
      fc.property(odd.chain(someItems), ({ zone, items, fromMs, minutes }) => {
        const withinMs = minutes * minuteMs
        const next = windowsAround(zone, items, fromMs).find(({ startMs }) => startMs > fromMs)?.startMs
        const expected = next !== undefined && next <= fromMs + withinMs ? next : null
        expect(findNextWindowStart(zone, items, fromMs, withinMs)).toBe(expected)
      }),
      { numRuns: sized({ quick: 40, deep: 2_000 }) }
    )
  })
})
