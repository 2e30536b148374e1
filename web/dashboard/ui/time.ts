/*
 * Times as the clocks of a station show them: operators plan by these, wherever they are.
 */

/** How times of one zone are written. */
export interface ZoneTime {
  readonly zone: string
  /** `14:05`, in the visitor's way; with the day where that is not today. */
  readonly time: (seconds: number) => string
  /** `2026-11-22` */
  readonly date: (ms: number) => string
  /** Minutes since midnight. */
  readonly minutes: (ms: number) => number
}

const known = new Map<string, ZoneTime>()

/** The clock of a zone, which is made once. One that browsers do not know is shown as UTC. */
export function zoneTime(zone: string): ZoneTime {
  const found = known.get(zone) ?? make(zone)
  known.set(zone, found)
  return found
}

function make(zone: string): ZoneTime {
  const timeZone = isZone(zone) ? zone : 'UTC'
  const shape = { timeZone, ...clockShape() }
  const time = new Intl.DateTimeFormat(undefined, shape)
  const dayAndTime = new Intl.DateTimeFormat(undefined, { ...shape, weekday: 'short' })
  // Swedish is written as dates are sorted.
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone })
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
  return {
    zone: timeZone,
    time: seconds => {
      const isToday = date.format(seconds * 1_000) === date.format(Date.now())
      return (isToday ? time : dayAndTime).format(seconds * 1_000)
    },
    date: ms => date.format(ms),
    minutes: ms => {
      const [hours = 0, minutes = 0] = clock.format(ms).split(':').map(Number)
      return hours * 60 + minutes
    }
  }
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * How a time of day is written where people count twelve hours (`2:05 PM`), and where they count all
 * (`02:05`).
 */
export function clockShape(locale?: string): Intl.DateTimeFormatOptions {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return { hour: hour12 === true ? 'numeric' : '2-digit', minute: '2-digit' }
}

/** What people call a time zone: `Comod Rivadavia` of `America/Argentina/ComodRivadavia`. */
export function placeName(zone: string): string {
  const last = zone.split('/').at(-1) ?? zone
  return last.replaceAll('_', ' ').replace(/(?<!\bMc)(?<=[a-z])(?=[A-Z])/g, ' ')
}
