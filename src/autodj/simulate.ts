import type { Library, HeardPlay, Playlist } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { transferIndex } from './recent.ts'
import { type Plan, type QueuedRow, refill } from './refill.ts'
import { forkTracks, indexOf, markAired } from './tracks.ts'

/** Where a simulation begins. */
export interface SimulationStart {
  readonly library: Library
  readonly queue: readonly QueuedRow[]
  /** The play on air began. */
  readonly startedAtMs: number
  /** When it ends, or the beginning of the simulation. */
  readonly fromMs: number
  readonly queueLength: number
  readonly nextSeq: number
}

/** A play as it would happen, or silence: then `play` is null. */
export interface SimulatedPlay {
  readonly startsAtMs: number
  readonly endsAtMs: number
  readonly play: HeardPlay | null
  /** Empty for rows that stood in the queue at the beginning. */
  readonly log: readonly LogEntry[]
}

/** Plays older than this do not matter to a station whose rules look no further back. */
const pastMs = 27 * 3_600_000

/**
 * What a station plays from a time on, step by step as its engine would do it, on copies: nothing that was
 * given changes. Ends where nothing will ever be played, else only when it is not asked any more.
 */
export function* simulate(beginning: SimulationStart): Generator<SimulatedPlay, void> {
  const { library, queueLength } = beginning
  const playlists = library.playlists.map(playlist => ({ ...playlist, tracks: forkTracks(playlist.tracks) }))
  const logs = new Map<number, readonly LogEntry[]>()
  const reachMs = Math.max(pastMs, library.rules.duplicateRangeMs)
  let { startedAtMs, nextSeq } = beginning
  let atMs = beginning.fromMs
  let queue = [...beginning.queue]
  let plays = [...library.past.plays]
  const older = new Map(library.past.older)
  let requests = library.requests
  for (;;) {
    const running = { startedAtMs, endsAtMs: atMs, playlistId: null, isInterrupt: true }
    const plan = refill({
      library: { ...library, playlists, requests, past: { ...library.past, plays, older } },
      running,
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
    queue = applyPlan(queue, plan).filter(row => row.id !== id)
    requests = requests.filter(request => request.id !== first.requestId)
    const play: HeardPlay = { ...first, startsAtMs: atMs }
    markPlayed(playlists, play)
    plays.push(play)
    const cut = plays.findIndex(each => each.startsAtMs > atMs - reachMs)
    for (const each of plays.slice(0, Math.max(0, cut))) {
      if (each.isVisible)
        for (const [key, last] of older) older.set(key, { ...last, visibleAfter: last.visibleAfter + 1 })
      if (each.playlistId !== null)
        older.set(each.playlistId, { startsAtMs: each.startsAtMs, visibleAfter: 0 })
    }
    if (cut > 0) {
      const rest = plays.slice(cut)
      transferIndex(plays, rest)
      plays = rest
    }
    yield { startsAtMs: atMs, endsAtMs: first.endsAtMs, play, log: logs.get(id) ?? [] }
    logs.delete(id)
    startedAtMs = atMs
    atMs = first.endsAtMs
  }
}

function markPlayed(
  playlists: readonly Playlist[],
  { playlistId, trackId, pass, startsAtMs }: HeardPlay
): void {
  const playlist = playlists.find(({ id }) => id === playlistId)
  if (playlist && trackId !== null)
    markAired(playlist.tracks, indexOf(playlist.tracks, trackId), pass, startsAtMs)
}

/**
 * The queue as it is after a plan. A new row's id is the negative number of its slot, which no stored row
 * has.
 */
export function applyPlan(queue: readonly QueuedRow[], plan: Plan): QueuedRow[] {
  const gone = new Set(plan.withdraw)
  const moved = new Map(plan.move.map(row => [row.id, row]))
  const kept = queue
    .filter(({ id }) => !gone.has(id))
    .map(row => {
      const { position, cuedAtMs, startsAtMs, durationMs } = moved.get(row.id) ?? row
      return { ...row, position, cuedAtMs, startsAtMs, durationMs }
    })
  const added = plan.insert.map(({ seq, log: _log, uri: _uri, ...row }) => ({
    ...row,
    id: -seq,
    isSent: false,
    isManual: false
  }))
  return [...kept, ...added].toSorted(
    (a, b) => Number(b.isSent) - Number(a.isSent) || a.position - b.position
  )
}
