import { type PlayOrRow, isInterruptingPlaylist, type Playlist } from '../library.ts'
import { rankIndexOf } from '../pick.ts'
import { nextHourlyTarget, findWindowAt, listWindowsBetween } from '../schedule.ts'
import type { SimulatedPlay } from '../simulate.ts'
import { minuteMs } from '../time-zone.ts'
import { playSourceName, type SimulationRun } from './run.ts'

/** `behind others`: on time, after plays that take precedence or have the same rank. */
export const startVerdicts = ['on time', 'behind others', 'late', 'never'] as const
type Verdict = (typeof startVerdicts)[number]

/** How late an hourly playlist may be, see `due.ts`. */
const maxHourlyLateMs = 45 * minuteMs
const exactMs = 1_000

export type MeasuredStart = ReturnType<typeof measureStarts>[number]

/**
 * All starts that are due in a run: each window of a rotation playlist and each target of an hourly playlist.
 * Omits starts that could still happen after the end of the run.
 */
export function measureStarts(run: SimulationRun) {
  const { library, fromMs, untilMs } = run
  const { zone } = library.rules
  const starts = library.playlists.flatMap(playlist => {
    const { type, schedule, id } = playlist
    if (type === 'once_per_hour')
      return findHourlyTargets(run, playlist).map(dueAtMs => {
        const isOwn = (play: PlayOrRow) => play.playlistId === id && play.occurrenceMs === dueAtMs
        return measureStart(run, playlist, 'hour', dueAtMs, dueAtMs + maxHourlyLateMs, isOwn)
      })
    if (type !== 'default') return []
    return listWindowsBetween(zone, schedule, fromMs, untilMs)
      .filter(({ startMs }) => startMs >= fromMs)
      .map(({ startMs, endMs }) =>
        measureStart(run, playlist, 'window', startMs, endMs, play => play.playlistId === id)
      )
  })
  return starts.filter(start => start !== null).toSorted((a, b) => a.dueAtMs - b.dueAtMs)
}

function findHourlyTargets(
  { library, fromMs, untilMs }: SimulationRun,
  { hourMinute, schedule }: Playlist
): number[] {
  const { zone } = library.rules
  const hours: number[] = []
  let atMs = nextHourlyTarget(zone, hourMinute, fromMs - 1)
  for (; atMs < untilMs; atMs = nextHourlyTarget(zone, hourMinute, atMs))
    if (schedule.length === 0 || findWindowAt(zone, schedule, atMs) !== null) hours.push(atMs)
  return hours
}

function measureStart(
  { library, plays, untilMs }: SimulationRun,
  playlist: Playlist,
  kind: 'window' | 'hour',
  dueAtMs: number,
  endMs: number,
  isOwn: (play: PlayOrRow) => boolean
) {
  const onAir = plays.findLastIndex(each => each.startsAtMs < dueAtMs)
  const after = plays.slice(onAir + 1).filter(each => each.startsAtMs < endMs)
  const first = after.findIndex(({ play }) => play !== null && isOwn(play))
  const current = plays[onAir]
  const isSilent = current?.play === null && current.endsAtMs > dueAtMs
  const between = [...(isSilent ? [current] : []), ...(first === -1 ? after : after.slice(0, first))]
  const precedence = precedenceOf(playlist)
  const isFair = between.every(each => precedenceOfPlay(library.playlists, each) <= precedence)
  const found = after[first]
  if (!found && isFair && endMs > untilMs) return null
  // A playlist does not interrupt itself.
  const isExact = (found?.startsAtMs ?? 0) - dueAtMs < exactMs || current?.play?.playlistId === playlist.id
  const isFirst = between.length === 0 && (isExact || !isInterruptingPlaylist(playlist))
  const delayed = isFair && between.length > 0 ? 'behind others' : 'late'
  const verdict: Verdict = !found ? 'never' : isFirst ? 'on time' : delayed
  return {
    playlistId: playlist.id,
    name: playlist.name,
    kind,
    dueAtMs,
    startedAtMs: found?.startsAtMs ?? null,
    /** Different names of the plays in between. */
    before: [...new Set(between.map(each => playSourceName(library.playlists, each)))],
    verdict
  }
}

/** Lower goes first: interrupts, then requests, then the buckets of `pickForSlot`. */
const precedenceOf = (playlist: Playlist) => (isInterruptingPlaylist(playlist) ? -2 : rankIndexOf(playlist))

function precedenceOfPlay(playlists: readonly Playlist[], { play }: SimulatedPlay): number {
  if (play === null) return Infinity
  if (play.playlistId === null) return -1
  const playlist = playlists.find(({ id }) => id === play.playlistId)
  return playlist ? precedenceOf(playlist) : Infinity
}
