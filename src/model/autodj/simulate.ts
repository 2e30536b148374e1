import { transferPlayIndex } from './duplicates.ts'
import type { PlayOrRow, LastPlay, Playlist } from './library.ts'
import type { DecisionLogEntry } from './log-entry.ts'
import type { PlannerInput, QueuedRow } from './queue-draft.ts'
import { planQueue, type QueuePlan } from './queue-planner.ts'
import { hourMs } from './time-zone.ts'
import { forkTrackColumns, findTrackIndex, markTrackAired } from './track-columns.ts'

/** The state of a station from which a simulation starts. */
export interface SimulationStart extends Pick<PlannerInput, 'library' | 'queue' | 'queueLength' | 'nextSeq'> {
  /** Start of the current play. */
  readonly startedAtMs: number
  /** When the current play ends and the simulation starts. */
  readonly fromMs: number
}

/** A simulated play, or silence: then `play` is null. */
export interface SimulatedPlay {
  readonly startsAtMs: number
  readonly endsAtMs: number
  readonly play: PlayOrRow | null
  /** Empty for rows that were in the queue at the start. */
  readonly log: readonly DecisionLogEntry[]
}

/** Plays older than this do not matter, unless the duplicate range is longer. */
const minPastMs = 27 * hourMs

/** Yields what the engine would play, on copies. Ends only if nothing will ever play again. */
export function* simulatePlays(start: SimulationStart): Generator<SimulatedPlay, void> {
  const { library, queueLength } = start
  const playlists = library.playlists.map(playlist => ({
    ...playlist,
    tracks: forkTrackColumns(playlist.tracks)
  }))
  const logs = new Map<number, readonly DecisionLogEntry[]>()
  const pastMs = Math.max(minPastMs, library.rules.duplicateRangeMs)
  const older = new Map(library.past.older)
  let { startedAtMs, nextSeq, fromMs: atMs } = start
  let queue = [...start.queue]
  let plays = [...library.past.plays]
  let { requests } = library
  for (;;) {
    const plan = planQueue({
      library: { ...library, playlists, requests, past: { ...library.past, plays, older } },
      running: { startedAtMs, endsAtMs: atMs, playlistId: null, isInterrupt: true },
      nowMs: atMs,
      queue,
      queueLength: queueLength + 1,
      rejected: new Set(),
      nextSeq
    })
    nextSeq += plan.insert.length
    for (const row of plan.insert) logs.set(-row.seq, row.log)
    const { first, wakeAtMs } = plan
    if (!first) {
      if (wakeAtMs === null) return
      yield { startsAtMs: atMs, endsAtMs: wakeAtMs, play: null, log: [] }
      atMs = wakeAtMs
      continue
    }
    const id = first.id ?? -(first.seq ?? 0)
    queue = applyQueuePlan(queue, plan).filter(row => row.id !== id)
    requests = requests.filter(request => request.id !== first.requestId)
    const play: PlayOrRow = { ...first, startsAtMs: atMs }
    recordPlay(playlists, play)
    plays.push(play)
    plays = forgetPlays(plays, older, atMs - pastMs)
    yield { startsAtMs: atMs, endsAtMs: first.endsAtMs, play, log: logs.get(id) ?? [] }
    logs.delete(id)
    startedAtMs = atMs
    atMs = first.endsAtMs
  }
}

function recordPlay(
  playlists: readonly Playlist[],
  { playlistId, trackId, pass, startsAtMs }: PlayOrRow
): void {
  const playlist = playlists.find(({ id }) => id === playlistId)
  if (playlist && trackId !== null)
    markTrackAired(playlist.tracks, findTrackIndex(playlist.tracks, trackId), pass, startsAtMs)
}

/** Returns the plays after a time, and summarizes the others in `older`. */
function forgetPlays(plays: PlayOrRow[], older: Map<number, LastPlay>, sinceMs: number): PlayOrRow[] {
  const count = plays.findIndex(each => each.startsAtMs > sinceMs)
  if (count <= 0) return plays
  for (const { isVisible, playlistId, startsAtMs } of plays.slice(0, count)) {
    if (isVisible)
      for (const [key, last] of older) older.set(key, { ...last, visibleAfter: last.visibleAfter + 1 })
    if (playlistId !== null) older.set(playlistId, { startsAtMs, visibleAfter: 0 })
  }
  const rest = plays.slice(count)
  transferPlayIndex(plays, rest)
  return rest
}

/** The queue after a plan. The id of a new row is its negative `seq`, which no stored row has. */
export function applyQueuePlan(queue: readonly QueuedRow[], plan: QueuePlan): QueuedRow[] {
  const withdrawn = new Set(plan.withdraw)
  const moved = new Map(plan.move.map(row => [row.id, row]))
  const kept = queue
    .filter(({ id }) => !withdrawn.has(id))
    .map(row => {
      const { position, cuedAtMs, startsAtMs, durationMs } = moved.get(row.id) ?? row
      return { ...row, position, cuedAtMs, startsAtMs, durationMs }
    })
  const added = plan.insert.map(({ seq, log: _log, uri: _uri, ...row }) => {
    return { ...row, id: -seq, isSent: false, isManual: false }
  })
  return [...kept, ...added].toSorted(
    (a, b) => Number(b.isSent) - Number(a.isSent) || a.position - b.position
  )
}
