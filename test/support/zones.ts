import { dayMs, openZone, type Zone } from '../../src/autodj/zone.ts'

/** Every zone of the tz database that the runtime lists, and UTC, which not every runtime does. */
export const allZones: readonly Zone[] = [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])].map(
  openZone
)

export const sweepFromMs = Date.UTC(2020, 0, 1)
export const sweepToMs = Date.UTC(2036, 0, 1)

/** The instants from 2020 to 2035 at which the clock of a zone changes. */
export function changesOf(zone: Zone): number[] {
  const changes = new Set<number>()
  for (let atMs = sweepFromMs; atMs < sweepToMs; atMs += dayMs) {
    const { untilMs } = zone.span(atMs)
    if (untilMs < sweepToMs) changes.add(untilMs)
  }
  return [...changes]
}
