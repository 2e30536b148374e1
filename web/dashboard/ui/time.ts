/** Formats times in the time zone of a station. */
export type ZoneClock = ReturnType<typeof createZoneClock>

const clocks = new Map<string, ZoneClock>()

/** Returns the clock of a zone; a zone unknown to the browser is shown as UTC. */
export function getZoneClock(zone: string): ZoneClock {
  const clock = clocks.get(zone) ?? createZoneClock(zone)
  clocks.set(zone, clock)
  return clock
}

function createZoneClock(zone: string) {
  const timeZone = isKnownZone(zone) ? zone : 'UTC'
  const options = { timeZone, ...hourOptions() }
  const time = new Intl.DateTimeFormat(undefined, options)
  const dayAndTime = new Intl.DateTimeFormat(undefined, { ...options, weekday: 'short' })
  // The Swedish locale formats dates as ISO 8601.
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone })
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
  return {
    zone: timeZone,
    /** `14:05` in the visitor's locale, from Unix seconds; with the weekday unless it is today. */
    formatTime: (seconds: number): string => {
      const isToday = date.format(seconds * 1_000) === date.format(Date.now())
      return (isToday ? time : dayAndTime).format(seconds * 1_000)
    },
    /** `2026-11-22` */
    formatDate: (ms: number): string => date.format(ms),
    /** Minutes since midnight. */
    minuteOfDay: (ms: number): number => {
      const [hours = 0, minutes = 0] = clock.format(ms).split(':').map(Number)
      return hours * 60 + minutes
    }
  }
}

function isKnownZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** One-digit hours in locales with a 12-hour clock (`2:05 PM`), two digits in others (`02:05`). */
function hourOptions(locale?: string): Intl.DateTimeFormatOptions {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return { hour: hour12 === true ? 'numeric' : '2-digit', minute: '2-digit' }
}

const minuteFormats = new Map<string, Intl.DateTimeFormat>()

/** Formats minutes since midnight: `14:05`, `2:05 PM`. */
export function formatMinuteOfDay(minutes: number, locale?: string): string {
  const format =
    minuteFormats.get(locale ?? '') ??
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...hourOptions(locale) })
  minuteFormats.set(locale ?? '', format)
  return format.format(minutes * 60_000)
}

/** The city of a time zone: `Comod Rivadavia` for `America/Argentina/ComodRivadavia`. */
export function formatZoneName(zone: string): string {
  const city = zone.split('/').at(-1) ?? zone
  return city.replaceAll('_', ' ').replace(/(?<!\bMc)(?<=[a-z])(?=[A-Z])/g, ' ')
}
