import type { HeardPlay, Playlist } from '../autodj/library.ts'
import { interrupts } from '../autodj/library.ts'
import { buckets } from '../autodj/pools.ts'
import { nextHourlyTarget, windowAt, windowsBetween } from '../autodj/schedule.ts'
import type { SimulatedPlay } from '../autodj/simulate.ts'
import type { Run } from './run.ts'

/**
 * `on time`: to the second if it cuts in, else as soon as the track that was on air had ended. `behind
 * others`: the same, but what goes first by its kind went first: a cut, a request, an identification, a
 * jingle, or a playlist of its own rank.
 */
export type Verdict = 'on time' | 'behind others' | 'late' | 'never'

/** A moment at which a playlist was to start. */
export interface Start {
  readonly playlistId: number
  readonly name: string
  /** The opening of a window, or the minute of an hour. */
  readonly kind: 'window' | 'hour'
  readonly dueAtMs: number
  /** Null: it did not. */
  readonly startedAtMs: number | null
  /** The names of what began in between, each once. */
  readonly before: readonly string[]
  readonly verdict: Verdict
}

/** How late an hourly playlist may be, see `due.ts`. */
const hourlyMostMs = 45 * 60_000
const exactMs = 1_000

/**
 * All starts that a schedule promises in a run, by their time: each window of a rotation and each minute of
 * an hourly playlist. What was due so late that the run ended before its turn is left out.
 */
export function startsOf(run: Run): Start[] {
  const { library, fromMs, untilMs } = run
  const { zone } = library.rules
  const starts = library.playlists.flatMap(playlist => {
    const { type, schedule } = playlist
    if (type === 'once_per_hour')
      return hoursOf(run, playlist).map(dueAtMs => {
        const isOwn = (play: HeardPlay) => play.playlistId === playlist.id && play.occurrenceMs === dueAtMs
        return startOf(run, playlist, 'hour', dueAtMs, dueAtMs + hourlyMostMs, isOwn)
      })
    if (type !== 'default') return []
    const isOwn = (play: HeardPlay) => play.playlistId === playlist.id
    return windowsBetween(zone, schedule, fromMs, untilMs)
      .filter(({ startMs }) => startMs >= fromMs)
      .map(({ startMs, endMs }) => startOf(run, playlist, 'window', startMs, endMs, isOwn))
  })
  return starts.filter(start => start !== null).toSorted((a, b) => a.dueAtMs - b.dueAtMs)
}

function hoursOf({ library, fromMs, untilMs }: Run, { hourMinute, schedule }: Playlist): number[] {
  const { zone } = library.rules
  const hours: number[] = []
  let atMs = nextHourlyTarget(zone, hourMinute, fromMs - 1)
  for (; atMs < untilMs; atMs = nextHourlyTarget(zone, hourMinute, atMs))
    if (schedule.length === 0 || windowAt(zone, schedule, atMs) !== null) hours.push(atMs)
  return hours
}

function startOf(
  { library, plays, untilMs }: Run,
  playlist: Playlist,
  kind: Start['kind'],
  dueAtMs: number,
  endMs: number,
  isOwn: (play: HeardPlay) => boolean
): Start | null {
  const onAir = plays.findLastIndex(each => each.startsAtMs < dueAtMs)
  const after = plays.slice(onAir + 1).filter(each => each.startsAtMs < endMs)
  const first = after.findIndex(({ play }) => play !== null && isOwn(play))
  const held = plays[onAir]
  const isSilent = held?.play === null && held.endsAtMs > dueAtMs
  const between = [...(isSilent ? [held] : []), ...(first === -1 ? after : after.slice(0, first))]
  const rank = rankOf(playlist)
  const isFair = between.every(each => rankOfPlay(library.playlists, each) <= rank)
  const found = after[first]
  if (!found && isFair && endMs > untilMs) return null
  // A playlist does not cut itself.
  const isExact = (found?.startsAtMs ?? 0) - dueAtMs < exactMs || held?.play?.playlistId === playlist.id
  const isFirst = between.length === 0 && (isExact || !interrupts(playlist))
  const verdict = !found
    ? 'never'
    : isFirst
      ? 'on time'
      : isFair && between.length > 0
        ? 'behind others'
        : 'late'
  return {
    playlistId: playlist.id,
    name: playlist.name,
    kind,
    dueAtMs,
    startedAtMs: found?.startsAtMs ?? null,
    before: [...new Set(between.map(each => nameOf(library.playlists, each)))],
    verdict
  }
}

/** What goes first has the lower one: cuts, then requests, then the buckets of `pick`. */
function rankOf(playlist: Playlist): number {
  if (interrupts(playlist)) return -2
  const isScheduled = playlist.schedule.length > 0
  return buckets.findIndex(bucket => bucket.type === playlist.type && bucket.isScheduled === isScheduled)
}

function rankOfPlay(playlists: readonly Playlist[], { play }: SimulatedPlay): number {
  if (play === null) return Infinity
  if (play.playlistId === null) return -1
  const playlist = playlists.find(({ id }) => id === play.playlistId)
  return playlist ? rankOf(playlist) : Infinity
}

/** What a listener hears, in a word. */
export function nameOf(playlists: readonly Playlist[], { play }: SimulatedPlay): string {
  if (play === null) return 'silence'
  if (play.playlistId === null) return play.requestId === null ? 'by hand' : 'request'
  return playlists.find(({ id }) => id === play.playlistId)?.name ?? 'a playlist that is gone'
}
