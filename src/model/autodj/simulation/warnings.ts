import { airtimeMs } from '../durations.ts'
import { isInterruptingPlaylist, isPlayablePlaylist, type Playlist } from '../library.ts'
import { isFallbackStream } from '../pick.ts'
import { nextHourlyTarget, listWindowsBetween } from '../schedule.ts'
import { dayMs, formatDayNumber, parseDayNumber, type TimeZone } from '../time-zone.ts'
import type { SimulationRun } from './run.ts'

export const scheduleWarningCodes = [
  'autodj_off',
  'nothing_to_play',
  'only_jingles',
  'disabled',
  'manual_only',
  'not_loaded',
  'no_songs',
  'no_interval',
  'interrupt_never_due',
  'dates_past',
  'never_active',
  'not_active_yet',
  'hour_outside_schedule',
  'overlapped',
  'shorter_than_songs',
  'option_without_schedule'
] as const

/** A setting that keeps a playlist, or with a `playlistId` of null the station, from playing as intended. */
export interface ScheduleWarning {
  readonly playlistId: number | null
  readonly code: (typeof scheduleWarningCodes)[number]
  /** Whether the playlist never plays because of it. */
  readonly isNeverPlayed: boolean
  readonly message: string
}

export interface WarningInput {
  /** All playlists, including disabled ones. */
  readonly playlists: readonly Playlist[]
  readonly run: SimulationRun
  readonly hasAutodj: boolean
  /** The ids of playlists whose songs are known only after they are saved. */
  readonly notLoaded?: ReadonlySet<number>
}

/** How far ahead a schedule is searched. */
const horizonMs = 366 * dayMs

/** Finds the playlists that never play, and settings without effect. At most one warning for each playlist. */
export function findScheduleWarnings({
  playlists,
  run,
  hasAutodj,
  notLoaded
}: WarningInput): ScheduleWarning[] {
  return [
    ...findStationWarnings(playlists, hasAutodj),
    ...playlists.flatMap(playlist => {
      const never = findReasonNever(playlist, run, notLoaded?.has(playlist.id) ?? false)
      const flaw = never ?? findFlaw(playlist, run)
      return flaw === null ? [] : [{ playlistId: playlist.id, isNeverPlayed: never !== null, ...flaw }]
    })
  ]
}

type Reason = Pick<ScheduleWarning, 'code' | 'message'>

function findStationWarnings(playlists: readonly Playlist[], hasAutodj: boolean): ScheduleWarning[] {
  const warn = (code: ScheduleWarning['code'], message: string) => [
    { playlistId: null, isNeverPlayed: false, code, message }
  ]
  const playable = playlists.filter(isPlayablePlaylist)
  if (!hasAutodj) return warn('autodj_off', 'The AutoDJ of the station is off, so no playlist plays.')
  if (playable.length === 0)
    return warn('nothing_to_play', 'No enabled playlist has songs: the station is silent.')
  if (playable.every(({ isJingle }) => isJingle))
    return warn('only_jingles', 'All playlists that can play are jingles: listeners see no song.')
  return []
}

/** Why a playlist never plays, or does not play in the run; null: it does, or could. */
function findReasonNever(playlist: Playlist, run: SimulationRun, isNotLoaded: boolean): Reason | null {
  const { type, everySongs, everyMinutes, schedule, tracks } = playlist
  if (!playlist.isEnabled) return { code: 'disabled', message: 'It never plays: it is disabled.' }
  if (type === 'custom')
    return { code: 'manual_only', message: 'The AutoDJ never chooses it: songs are queued manually.' }
  if (isNotLoaded) return { code: 'not_loaded', message: 'Its songs are known after it is saved.' }
  if (tracks.ids.length === 0) return { code: 'no_songs', message: 'It never plays: it has no songs.' }
  if (
    (type === 'once_per_x_songs' && everySongs === 0) ||
    (type === 'once_per_x_minutes' && everyMinutes === 0)
  )
    return {
      code: 'no_interval',
      message: 'It never plays: the number of songs or minutes between plays is 0.'
    }
  if (isInterruptingPlaylist(playlist) && type === 'default' && schedule.length === 0)
    return {
      code: 'interrupt_never_due',
      message: 'It never plays: a rotation that interrupts needs a schedule.'
    }
  return findScheduleReason(playlist, run) ?? findOverlap(playlist, run)
}

function findScheduleReason({ schedule, type, hourMinute }: Playlist, run: SimulationRun): Reason | null {
  if (schedule.length === 0) return null
  const { zone } = run.library.rules
  const { fromMs, untilMs } = run
  const windows = listWindowsBetween(zone, schedule, fromMs, fromMs + horizonMs)
  const [first] = windows
  if (!first) return describeEmptySchedule(schedule, zone.localDay(fromMs))
  if (
    type === 'once_per_hour' &&
    !windows.some(({ startMs, endMs }) => hasTarget(zone, hourMinute, startMs, endMs))
  )
    return {
      code: 'hour_outside_schedule',
      message: `It never plays: its schedule does not include minute ${hourMinute} of an hour.`
    }
  if (first.startMs >= untilMs)
    return {
      code: 'not_active_yet',
      message: `It does not play before ${formatDayNumber(zone.localDay(first.startMs))}, when its schedule begins.`
    }
  return null
}

const hasTarget = (zone: TimeZone, minute: number, fromMs: number, toMs: number) =>
  nextHourlyTarget(zone, minute, fromMs - 1) < toMs

function describeEmptySchedule(schedule: Playlist['schedule'], today: number): Reason {
  const isPast = schedule.every(({ end_date: date }) => date !== '' && parseDayNumber(date) < today)
  return isPast
    ? { code: 'dates_past', message: 'It never plays: the dates of its schedule are in the past.' }
    : { code: 'never_active', message: 'It never plays: no day of its schedule is within its dates.' }
}

const maxNames = 3

/** Whether other playlists took all its time in the run. */
function findOverlap(playlist: Playlist, run: SimulationRun): Reason | null {
  const { library, fromMs, untilMs, plays } = run
  if (isFallbackStream(playlist) || plays.some(({ play }) => play?.playlistId === playlist.id)) return null
  const windows =
    playlist.schedule.length === 0
      ? [{ startMs: fromMs, endMs: untilMs }]
      : listWindowsBetween(library.rules.zone, playlist.schedule, fromMs, untilMs)
  const airtimes = new Map<number, number>()
  for (const { play, startsAtMs, endsAtMs } of plays) {
    if (play === null || play.playlistId === null) continue
    for (const { startMs, endMs } of windows) {
      const sharedMs = Math.min(endsAtMs, endMs) - Math.max(startsAtMs, startMs)
      if (sharedMs > 0) airtimes.set(play.playlistId, (airtimes.get(play.playlistId) ?? 0) + sharedMs)
    }
  }
  const names = [...airtimes]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, maxNames)
    .flatMap(([id]) => library.playlists.find(each => each.id === id)?.name ?? [])
  if (names.length === 0) return null
  return {
    code: 'overlapped',
    message: `It does not play in this period: ${names.join(', ')} took its time.`
  }
}

/** A setting without the intended effect. */
function findFlaw(playlist: Playlist, run: SimulationRun): Reason | null {
  const { schedule, options, tracks, source } = playlist
  if (schedule.length === 0) {
    const useless = (['single_track', 'loop_once'] as const).filter(option => options.has(option))
    if (useless.length === 0) return null
    const verb = useless.length === 1 ? 'has' : 'have'
    return {
      code: 'option_without_schedule',
      message: `${useless.join(' and ')} ${verb} no effect without a schedule.`
    }
  }
  if (source === 'stream') return null
  const { zone } = run.library.rules
  const windows = listWindowsBetween(zone, schedule, run.fromMs, run.fromMs + 7 * dayMs)
  const longestMs = Math.max(0, ...windows.map(({ startMs, endMs }) => endMs - startMs))
  const shortestMs = tracks.durations.reduce((least, each) => Math.min(least, airtimeMs(each)), Infinity)
  if (windows.length === 0 || shortestMs <= longestMs) return null
  return {
    code: 'shorter_than_songs',
    message: `Every song is longer than its schedule of ${Math.round(longestMs / 60_000)} minutes, so it plays one song that runs over.`
  }
}
