import type { Playlist } from '../api/responses.ts'
import { formatMinuteOfDay } from '../ui/time.ts'
import type { ApiScheduleItem } from './schedule-item.ts'

/** Formats a schedule item: `Mon–Fri 09:00–17:30, until 2026-12-24`. */
export function formatScheduleItem(item: Omit<ApiScheduleItem, 'id' | 'loop_once'>): string {
  const { start_time: start, end_time: end, start_date: startDate, end_date: endDate, days } = item
  const times = start === end ? `at ${formatHhmm(start)}` : `${formatHhmm(start)}–${formatHhmm(end)}`
  return `${formatDays(days)} ${times}${formatDates(startDate, endDate)}`
}

const formatHhmm = (hhmm: number) => formatMinuteOfDay(Math.floor(hhmm / 100) * 60 + (hhmm % 100))

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const nameOf = (day = 1) => dayNames[day - 1] ?? ''

/** Joins three or more consecutive days: `Mon–Wed, Fri`. */
function formatDays(days: readonly number[]): string {
  if (days.length === 0 || days.length === 7) return 'Every day'
  const runs: number[][] = []
  for (const day of days.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.at(-1) === day - 1) run.push(day)
    else runs.push([day])
  }
  return runs
    .flatMap(run => (run.length < 3 ? run.map(nameOf) : [`${nameOf(run[0])}–${nameOf(run.at(-1))}`]))
    .join(', ')
}

function formatDates(start: string, end: string): string {
  if (start === '' && end === '') return ''
  if (start === end) return ` on ${start}`
  if (start === '') return `, until ${end}`
  return end === '' ? `, from ${start}` : `, ${start} to ${end}`
}

/** When a playlist plays, apart from its schedule. */
type Frequency = Pick<
  Playlist,
  | 'type'
  | 'source'
  | 'remote_type'
  | 'weight'
  | 'play_per_songs'
  | 'play_per_minutes'
  | 'play_per_hour_minute'
>

/** Describes how often a playlist plays. */
export function describePlaylistFrequency(playlist: Frequency): string {
  if (playlist.source === 'remote_url' && playlist.remote_type !== 'playlist')
    return 'Stream, if nothing else can play'
  switch (playlist.type) {
    case 'once_per_x_songs':
      return formatInterval(playlist.play_per_songs, 'song')
    case 'once_per_x_minutes':
      return formatInterval(playlist.play_per_minutes, 'minute')
    case 'once_per_hour':
      return `Once an hour, at :${String(playlist.play_per_hour_minute).padStart(2, '0')}`
    case 'custom':
      return 'Manual only'
    case 'default':
      break
  }
  return `Rotation, weight ${playlist.weight}`
}

function formatInterval(count: number, unit: string): string {
  if (count === 0) return 'Never'
  return count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`
}
