import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  dayMs,
  formatDayNumber,
  hourMs,
  minuteMs,
  findTimeZone,
  getTimeZone,
  parseDayNumber,
  isoWeekdayOfDay,
  type TimeZone
} from '../../../../src/model/autodj/time-zone.ts'
import { sized } from '../../../support/tier.ts'
import { changesOf, sweepFromMs, sweepToMs, zones } from '../../../support/zones.ts'

/** The offset as formatted by the tz database (`GMT+05:30`), independent of zone.ts. */
function wordedOffsets(timeZone: string): (atMs: number) => number {
  const wording = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  return atMs => {
    const [, sign, ...parts] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(wording.format(atMs))?.map(part => part ?? '0') ?? []
    const [hours = 0, minutes = 0, seconds = 0] = parts.map(Number)
    return (sign === '-' ? -1_000 : 1_000) * ((hours * 60 + minutes) * 60 + seconds)
  }
}

const shownMs = (zone: TimeZone, atMs: number): number =>
  zone.localDay(atMs) * dayMs + zone.minuteOfDay(atMs) * minuteMs

test.each(['Mars/Olympus_Mons', '', 'Factory', 'posix/Europe/Berlin', 'Europe/Berlin\0', ' '])(
  'a station in the unknown zone "%s" is in UTC',
  name => {
    expect(findTimeZone(name)).toBe(null)
    expect(getTimeZone(name)).toMatchObject({ name: 'UTC' })
    expect(getTimeZone(name).minuteOfDay(Date.parse('2026-07-15T12:34:00Z'))).toBe(12 * 60 + 34)
  }
)

test('an instant outside the range of dates throws', () => {
  expect(() => getTimeZone('UTC').localDay(Number.NaN)).toThrow(RangeError)
  expect(() => getTimeZone('UTC').localDay(Infinity)).toThrow(RangeError)
})

test('zones are cached', () => {
  expect(getTimeZone('Europe/Berlin')).toBe(getTimeZone('Europe/Berlin'))
})

test.each([
  ['UTC', '2026-01-15T00:00:00Z', '2026-01-15', 0],
  ['Asia/Kolkata', '2026-01-15T18:29:59.999Z', '2026-01-15', 1439],
  ['Asia/Kolkata', '2026-01-15T18:30:00Z', '2026-01-16', 0],
  ['Asia/Kathmandu', '2026-01-15T00:15:00Z', '2026-01-15', 360],
  ['America/New_York', '2026-07-04T03:59:59Z', '2026-07-03', 1439],
  ['Pacific/Kiritimati', '2026-01-15T10:00:00Z', '2026-01-16', 0],
  ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29', 119],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29', 180],
  ['Europe/Berlin', '1969-12-31T22:59:59.999Z', '1969-12-31', 1439]
])('the clock of %s at %s', (name, at, date, minute) => {
  const zone = getTimeZone(name)
  expect(formatDayNumber(zone.localDay(Date.parse(at)))).toBe(date)
  expect(zone.minuteOfDay(Date.parse(at))).toBe(minute)
})

test.each([
  ['Europe/Berlin', '2026-03-29', 230, '2026-03-29T01:00Z', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-03-29', 200, '2026-03-29T01:00Z', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-03-29', 300, '2026-03-29T01:00Z', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25', 159, '2026-10-24T23:59Z', '2026-10-24T23:59Z'],
  ['Europe/Berlin', '2026-10-25', 200, '2026-10-25T00:00Z', '2026-10-25T01:00Z'],
  ['Europe/Berlin', '2026-10-25', 259, '2026-10-25T00:59Z', '2026-10-25T01:59Z'],
  ['Europe/Berlin', '2026-10-25', 300, '2026-10-25T02:00Z', '2026-10-25T02:00Z'],
  ['Australia/Lord_Howe', '2024-04-07', 145, '2024-04-06T14:45Z', '2024-04-06T15:15Z'],
  ['Australia/Lord_Howe', '2024-10-06', 215, '2024-10-05T15:30Z', '2024-10-05T15:30Z'],
  ['Antarctica/Troll', '2024-03-31', 200, '2024-03-31T01:00Z', '2024-03-31T01:00Z'],
  ['Antarctica/Troll', '2024-10-27', 200, '2024-10-27T00:00Z', '2024-10-27T02:00Z'],
  ['Africa/Casablanca', '2024-03-10', 230, '2024-03-10T01:30Z', '2024-03-10T02:30Z'],
  ['Africa/Casablanca', '2024-04-14', 230, '2024-04-14T02:00Z', '2024-04-14T02:00Z'],
  ['Africa/Cairo', '2024-04-26', 30, '2024-04-25T22:00Z', '2024-04-25T22:00Z'],
  ['Africa/Cairo', '2024-10-31', 2330, '2024-10-31T20:30Z', '2024-10-31T21:30Z'],
  ['America/St_Johns', '2010-11-06', 2330, '2010-11-07T02:00Z', '2010-11-07T03:00Z'],
  ['America/St_Johns', '2010-11-07', 0, '2010-11-07T02:30Z', '2010-11-07T03:30Z'],
  // The clock changed at the boundary of a cached year.
  ['Antarctica/Casey', '1969-01-01', 400, '1969-01-01T00:00Z', '1969-01-01T00:00Z'],
  ['Pacific/Apia', '2011-12-29', 2359, '2011-12-30T09:59Z', '2011-12-30T09:59Z'],
  ['Pacific/Apia', '2011-12-30', 1200, '2011-12-30T10:00Z', '2011-12-30T10:00Z'],
  ['Pacific/Apia', '2011-12-31', 1, '2011-12-30T10:01Z', '2011-12-30T10:01Z'],
  ['Pacific/Kwajalein', '1993-08-21', 1200, '1993-08-21T12:00Z', '1993-08-21T12:00Z'],
  ['Pacific/Kwajalein', '1993-08-22', 0, '1993-08-21T12:00Z', '1993-08-21T12:00Z']
])('%s shows %s %i first at %s, then at %s', (name, date, hhmm, first, second) => {
  const zone = getTimeZone(name)
  expect(zone.instant(parseDayNumber(date), hhmm, 'first')).toBe(Date.parse(first))
  expect(zone.instant(parseDayNumber(date), hhmm, 'second')).toBe(Date.parse(second))
})

test.each([
  ['Europe/Berlin', ['2024-03-31T01:00Z', '2024-10-27T01:00Z']],
  ['Africa/Casablanca', ['2024-03-10T02:00Z', '2024-04-14T02:00Z']],
  ['Africa/Cairo', ['2024-04-25T22:00Z', '2024-10-31T21:00Z']],
  ['Australia/Lord_Howe', ['2024-04-06T15:00Z', '2024-10-05T15:30Z']],
  ['Asia/Gaza', ['2024-04-20T00:00Z', '2024-10-25T23:00Z']],
  ['Asia/Almaty', ['2024-02-29T18:00Z']],
  ['Asia/Kolkata', []]
])('the changes of %s in 2024', (name, changes) => {
  const in2024 = changesOf(getTimeZone(name)).filter(atMs => new Date(atMs).getUTCFullYear() === 2024)
  expect(in2024).toEqual(changes.map(at => Date.parse(at)))
})

test('a daylight saving time of one week is found', () => {
  const { fromMs, untilMs } = getTimeZone('America/Recife').span(Date.parse('2000-10-11T12:00Z'))
  expect([fromMs, untilMs]).toEqual([Date.parse('2000-10-08T03:00Z'), Date.parse('2000-10-15T02:00Z')])
})

test(
  'zones have the offsets of the tz database, before and after each change and in between',
  { timeout: 60_000 },
  () => {
    const wrong: string[] = []
    for (const zone of zones) {
      const offsetAt = wordedOffsets(zone.name)
      const changes = changesOf(zone)
      const near = changes.flatMap(atMs => [atMs - 1, atMs])
      const anywhere = fc.sample(
        fc.integer({ min: sweepFromMs, max: sweepToMs - 1 }),
        sized({ quick: 3, deep: 40 })
      )
      for (const atMs of [...near, ...anywhere]) {
        if (zone.span(atMs).offsetMs !== offsetAt(atMs)) wrong.push(`${zone.name} ${atMs}`)
      }
    }
    expect(wrong).toEqual([])
  }
)

test('spans are contiguous and contain their instants', () => {
  const anInstant = fc.integer({ min: sweepFromMs, max: sweepToMs - 1 })
  const aChange = (zone: TimeZone) => fc.constantFrom(...changesOf(zone), sweepFromMs)
  fc.assert(
    fc.property(
      fc
        .constantFrom(...zones)
        .chain(zone => fc.tuple(fc.constant(zone), fc.oneof(anInstant, aChange(zone)))),
      ([zone, atMs]) => {
        const { fromMs, untilMs } = zone.span(atMs)
        expect(fromMs).toBeLessThanOrEqual(atMs)
        expect(untilMs).toBeGreaterThan(atMs)
        expect(untilMs === Infinity || zone.span(untilMs).fromMs === untilMs).toBe(true)
        expect(fromMs === -Infinity || zone.span(fromMs - 1).untilMs === fromMs).toBe(true)
      }
    )
  )
})

test(
  'around every change a time is first reached at its first instant and last passed at its second',
  { timeout: 60_000 },
  () => {
    const wrong: string[] = []
    for (const zone of zones) {
      for (const changeMs of changesOf(zone)) {
        const [aside = 0] = fc.sample(fc.integer({ min: -200, max: 200 }), 1)
        const wantedMs = shownMs(zone, changeMs) + aside * minuteMs
        let first = Infinity
        let second = -Infinity
        for (let atMs = changeMs - 8 * hourMs; atMs < changeMs + 8 * hourMs; atMs += minuteMs) {
          const offMs = shownMs(zone, atMs) - wantedMs
          if (offMs >= 0 && first === Infinity) first = atMs
          if (offMs <= 0) second = offMs === 0 ? atMs : atMs + minuteMs
        }
        const day = Math.floor(wantedMs / dayMs)
        const minute = (wantedMs - day * dayMs) / minuteMs
        const hhmm = Math.floor(minute / 60) * 100 + (minute % 60)
        if (zone.instant(day, hhmm, 'first') !== first || zone.instant(day, hhmm, 'second') !== second) {
          wrong.push(`${zone.name} ${formatDayNumber(day)} ${hhmm}`)
        }
      }
    }
    expect(wrong).toEqual([])
  }
)

test.each([
  ['1969-12-28', 7],
  ['1970-01-01', 4],
  ['2018-01-15', 1],
  ['2024-02-29', 4],
  ['2026-01-09', 5]
])('%s is day %i of its week', (date, day) => {
  expect(isoWeekdayOfDay(parseDayNumber(date))).toBe(day)
  expect(formatDayNumber(parseDayNumber(date))).toBe(date)
})
