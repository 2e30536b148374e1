/** A length as players write it: `3:05`, `1:02:09`. */
export function lengthText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const tail = String(rest).padStart(2, '0')
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`
}

/** The same in words, to be heard: `3 minutes 5 seconds`. */
export function spokenLength(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second']
  ] as const
  const said = parts.flatMap(([count, unit]) =>
    count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`]
  )
  return said.join(' ') || '0 seconds'
}

/** A time of day where the visitor is, in the visitor's way; with the day where it is not today's. */
export function timeOfDay(unixSeconds: number, nowMs: number = Date.now()): string {
  const at = new Date(unixSeconds * 1_000)
  const isToday = at.toDateString() === new Date(nowMs).toDateString()
  return at.toLocaleTimeString(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(isToday ? {} : { weekday: 'short' })
  })
}
