import { airtimeMs } from './durations.ts'
import { trackCountsInPass, type Playlist, type PlayOrRow, type QueueSlot } from './library.ts'
import { repeatsPreviousSong } from './previous-play.ts'
import { shuffleKey } from './random.ts'
import type { ScheduleWindow } from './schedule.ts'
import { columnValueAt, songKeysAt, findTrackIndex } from './track-columns.ts'

/** Tracks from which a playlist may choose in a slot. */
export interface TrackPool {
  /** The pass that a play is counted in; null if the playlist has no passes. */
  readonly pass: number | null
  /** Seeds the shuffled order. */
  readonly seed: number
  includes(index: number): boolean
}

/**
 * The pools of a playlist, best first: the rest of the current pass; then, if shuffled, the tracks that the
 * pass has used, for the next pass. So no track is ever more than two plays ahead of another.
 */
export function findTrackPools(
  playlist: Playlist,
  slot: QueueSlot,
  window: ScheduleWindow | null,
  randomSeed: number
): readonly [TrackPool, ...TrackPool[]] {
  const { order, tracks } = playlist
  if (window !== null && playsLoopOnce(playlist, window)) {
    const played = findPlayedTracks(playlist, slot, window)
    const includes = (index: number) =>
      trackCountsInPass(playlist, index) && !played.has(columnValueAt(tracks.ids, index))
    return [{ pass: null, seed: window.startMs / 1_000, includes }]
  }
  if (order === 'random')
    return [{ pass: null, seed: randomSeed, includes: index => trackCountsInPass(playlist, index) }]
  const { current, usedIn } = findPasses(playlist, slot)
  const rest = { pass: current, seed: current, includes: (index: number) => (usedIn[index] ?? 0) < current }
  if (order === 'sequential') return [rest]
  const next = current + 1
  return [rest, { pass: next, seed: next, includes: index => (usedIn[index] ?? 0) === current }]
}

/** The index of the first track of a pool in playlist order; -1 if the pool is empty. */
export function firstTrackInPool({ tracks }: Playlist, pool: TrackPool): number {
  return tracks.ids.findIndex((_, index) => pool.includes(index))
}

/** Whether every track is played once in a window, from the first on. */
export function playsLoopOnce({ options }: Playlist, { item }: ScheduleWindow): boolean {
  return item.loop_once || options.has('loop_once')
}

export function isLoopDone(playlist: Playlist, slot: QueueSlot, window: ScheduleWindow): boolean {
  const played = findPlayedTracks(playlist, slot, window)
  return playlist.tracks.ids.every((id, index) => played.has(id) || !trackCountsInPass(playlist, index))
}

/** Tracks played in a window. Removed rows of a sequential playlist count, or they would return at once. */
function findPlayedTracks(
  { id, order }: Playlist,
  { library, rowsBefore }: QueueSlot,
  window: ScheduleWindow
): Set<number> {
  const { plays, removed } = library.past
  const played = new Set<number>()
  for (const rows of [plays, rowsBefore, order === 'sequential' ? removed : []])
    for (const row of rows)
      if (row.playlistId === id && row.trackId !== null && row.startsAtMs >= window.startMs)
        played.add(row.trackId)
  return played
}

/** Rows of the queue, as far as passes depend on them. */
interface QueuedTracks {
  readonly rowsBefore: readonly Pick<PlayOrRow, 'playlistId' | 'trackId' | 'pass'>[]
}

/**
 * The tracks that a shuffled or sequential playlist has left in its pass, in order, as indices. `seed` is that of the
 * station. Rules such as those against repeated artists may change the order of a shuffled one.
 */
export function listRestOfPass(playlist: Playlist, queued: QueuedTracks, seed: number): number[] {
  const { order, tracks } = playlist
  const { current, usedIn } = findPasses(playlist, queued)
  const rest = [...tracks.ids.keys()].filter(index => columnValueAt(usedIn, index) < current)
  if (order === 'sequential') return rest
  const keyOf = (index: number) => shuffleKey(seed, current, columnValueAt(tracks.ids, index))
  return rest.toSorted((a, b) => keyOf(a) - keyOf(b))
}

/** The pass of repeated tracks, which are never played. */
const everyPass = 2 ** 31 - 1

/**
 * The current pass of a playlist, and the last pass in which each track was played or queued. A pass is one
 * run through all tracks. Derived from plays and rows, so that a withdrawn row returns its track to the pass.
 */
function findPasses(playlist: Playlist, { rowsBefore }: QueuedTracks) {
  const { id, pass, tracks } = playlist
  const usedIn = tracks.lastPass.slice()
  for (const row of rowsBefore) {
    const index = row.playlistId === id && row.trackId !== null ? findTrackIndex(tracks, row.trackId) : -1
    if (index >= 0) usedIn[index] = Math.max(columnValueAt(usedIn, index), row.pass)
  }
  let least = everyPass
  const duplicates = playlist.order === 'sequential' ? null : tracks.duplicates
  for (let index = 0; index < usedIn.length; index++) {
    if (duplicates?.[index]) usedIn[index] = everyPass
    least = Math.min(least, usedIn[index] ?? 0)
  }
  return { current: Math.max(pass, least === everyPass ? 0 : least + 1), usedIn }
}

const maxBatchRows = 500

export type TrackBatch = ReturnType<typeof planNextBatch>

/**
 * The next batch of a merged playlist, as indices: all tracks in a new pass, at most 500 at a time. A shuffled
 * one does not begin with the previous song if it has another one.
 */
export function planNextBatch(playlist: Playlist, slot: QueueSlot) {
  const { order, tracks } = playlist
  const { seed } = slot.library.rules
  const { pass, includes } = findBatchPass(playlist, slot)
  const count = tracks.ids.length
  const orderKey = (index: number) =>
    order === 'sequential' ? 0 : shuffleKey(seed, pass, columnValueAt(tracks.ids, index))
  // Sorted as numbers that contain both the key and the index.
  const keys = Float64Array.from(
    [...tracks.ids.keys()].filter(includes),
    index => orderKey(index) * count + index
  )
  const sorted = [...keys.toSorted().subarray(0, maxBatchRows)].map(key => key % count)
  const indices = order === 'sequential' ? sorted : beginWithOther(playlist, slot, sorted)
  const totalMs = indices.reduce((sum, index) => sum + airtimeMs(columnValueAt(tracks.durations, index)), 0)
  return { pass, indices, airtimeMs: totalMs }
}

function beginWithOther(
  { tracks, isJingle }: Playlist,
  slot: QueueSlot,
  indices: readonly number[]
): number[] {
  const first = indices.findIndex(
    index => !repeatsPreviousSong(slot, { song: songKeysAt(tracks, index), isVisible: !isJingle })
  )
  return first <= 0 ? [...indices] : [...indices.slice(first, first + 1), ...indices.toSpliced(first, 1)]
}

function findBatchPass(playlist: Playlist, slot: QueueSlot) {
  const { pass, tracks } = playlist
  const { current, usedIn } = findPasses(playlist, slot)
  const hasBegun = tracks.ids.length > maxBatchRows && usedIn.includes(current)
  if (hasBegun) return { pass: current, includes: (index: number) => (usedIn[index] ?? 0) < current }
  // Every batch has a pass of its own, which identifies its rows.
  const includes = (index: number) => trackCountsInPass(playlist, index)
  const newest = usedIn.reduce((most, each, index) => (includes(index) ? Math.max(most, each) : most), 0)
  return { pass: Math.max(pass, newest + 1), includes }
}
