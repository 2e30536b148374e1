import { dayMs, getTimeZone, type TimeZone } from '../../src/model/autodj/time-zone.ts'
import { isDeep } from './tier.ts'

/** Zones whose clocks change by unusual amounts, at unusual times, often, or on unusual dates. */
const oddZones = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Nuuk',
  'America/St_Johns',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Europe/Berlin',
  'Pacific/Apia'
]

const allZones = Intl.supportedValuesOf('timeZone')

/**
 * In the deep tier every zone of the tz database that the runtime lists, and UTC, which not every runtime
 * lists. In the quick tier the unusual ones and every 40th of the others: the first use of a zone takes most
 * of the time.
 */
export const zones: readonly TimeZone[] = [
  ...new Set(['UTC', ...oddZones, ...allZones.filter((_, index) => isDeep || index % 40 === 0)])
].map(getTimeZone)

export const sweepFromMs = Date.UTC(2020, 0, 1)
export const sweepToMs = Date.UTC(2036, 0, 1)

const changesByZone = new Map<TimeZone, readonly number[]>()

/** The instants from 2020 to 2035 at which the clock of a zone changes. */
export function changesOf(zone: TimeZone): readonly number[] {
  const known = changesByZone.get(zone) ?? findChanges(zone)
  changesByZone.set(zone, known)
  return known
}

function findChanges(zone: TimeZone): number[] {
  const changes = new Set<number>()
  for (let atMs = sweepFromMs; atMs < sweepToMs; atMs += dayMs) {
    const { untilMs } = zone.span(atMs)
    if (untilMs < sweepToMs) changes.add(untilMs)
  }
  return [...changes]
}
