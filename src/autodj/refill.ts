import { buckets, rankOf } from './buckets.ts'
import type { Decision, Picked } from './decision.ts'
import { nextStartMs } from './estimate.ts'
import { type Cuttable, dueInterrupts, isOverdue, nextCut } from './interrupt.ts'
import { interrupts, isSequence, lastBefore, type Library, type Play, type Slot } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { nextChance } from './next-chance.ts'
import { pick, pickFrom } from './pick.ts'
import { type Moved, type Placed, positioned } from './positions.ts'
import { randomOf } from './random.ts'
import { dueRequest, isRunFull, requested } from './requests.ts'
import { windowAt } from './schedule.ts'
import { isListed, mayStay } from './stay.ts'

/** A row of the queue that has not been played; `startsAtMs` is when it is expected to. */
export interface QueuedRow extends Play {
  readonly id: number
  readonly position: number
  readonly cuedAtMs: number
  /** A playout has it, and cannot be stopped from playing it. */
  readonly isSent: boolean
  /** Put there by a person: nothing but a person takes it out. */
  readonly isManual: boolean
  /** Rows of one batch play back to back. */
  readonly batch: number | null
}

export interface NewRow extends Picked {
  readonly seq: number
  readonly position: number
  readonly batch: number | null
  readonly cuedAtMs: number
  readonly startsAtMs: number
  readonly log: readonly LogEntry[]
}

export interface MovedRow {
  readonly id: number
  readonly position: number
  readonly cuedAtMs: number
  readonly startsAtMs: number
  readonly durationMs: number
  /** Why it plays at another time than it was told, if something came before it. */
  readonly log: readonly LogEntry[]
}

/** What has to change in the queue. */
export interface Plan {
  readonly withdraw: readonly number[]
  readonly insert: readonly NewRow[]
  readonly move: readonly MovedRow[]
  /** When the play that runs now ends: by itself, or because the first row cuts it. */
  readonly runningEndsMs: number
  /** What plays next, and when it ends. */
  readonly first:
    | (Play & { readonly id: number | null; readonly seq: number | null; readonly endsAtMs: number })
    | null
  /** Where nothing is left to play: when something may be, null if only a change of the library can tell. */
  readonly wakeAtMs: number | null
}

/** What holds the air before the first row. */
export interface Running {
  readonly startedAtMs: number
  /** When the first row begins if nothing cuts. */
  readonly endsAtMs: number
  readonly playlistId: number | null
  readonly isInterrupt: boolean
}

export interface Situation {
  readonly library: Library
  readonly running: Running
  readonly nowMs: number
  /** In playing order, rows that were sent first. */
  readonly queue: readonly QueuedRow[]
  readonly queueLength: number
  /** Tracks an operator has just removed. */
  readonly rejected: ReadonlySet<number>
  readonly nextSeq: number
}

const horizonMs = 6 * 3_600_000
const insertionsAtMost = 50
const rowsAtMost = 2_000

/**
 * Walks the queue in playing order and gives what has to change in it: rows that may no longer play where they stand are
 * withdrawn, what is more important goes in front of them, the end is filled up, and all are told when they will play. A row
 * stays exactly where it would be chosen again by what comes before it, so applied to its own result this plans nothing.
 * Deterministic, so a step that is computed twice ends in the same queue.
 */
export function refill(situation: Situation): Plan {
  const { library, running, nowMs, queue, rejected, nextSeq } = situation
  const { rules, playlists, past } = library
  const wanted = Math.max(situation.queueLength, 2)
  const byId = new Map(playlists.map(playlist => [playlist.id, playlist]))
  const rotation = playlists.filter(playlist => !interrupts(playlist))
  const placed: Placed[] = []
  const withdrawn = new Set<number>()
  const moved = new Map<number, Moved>()
  let left: QueuedRow[] = []
  let inserted = 0
  let insertedWhy: Moved | null = null
  let counted = 0
  let previousMs = running.startedAtMs
  let atMs = running.endsAtMs
  let firstEndsMs = 0

  for (const row of queue) {
    const playlist = playlistOf(row)
    if (isFixed(row) || row.requestId !== null || (playlist && isListed(row, playlist))) left.push(row)
    else withdrawn.add(row.id)
  }
  if (!left[0]?.isSent) {
    const held = { playlistId: running.playlistId, isInterrupt: running.isInterrupt }
    const isCutNow = running.endsAtMs > nowMs && isOverdue(held, slotAt(nowMs))
    atMs = isCutNow ? nowMs : (cutOf(held, Math.max(nowMs, running.startedAtMs), atMs) ?? atMs)
  }
  const runningEndsMs = atMs

  while (left.length > 0 && placed.length < rowsAtMost) {
    placeInterrupts()
    const [row, next] = left
    if (!row) break
    left = left.slice(1)
    if (isFixed(row)) place(row)
    else if (row.requestId !== null) placeRequest(row)
    // The time of what cuts in may come behind the next row.
    else if (row.isInterrupt && next && !next.isInterrupt && !isAllowed(row))
      left = [next, row, ...left.slice(1)]
    else if (!isAllowed(row) || isRepetition(row)) withdraw(row)
    else placeOrReplace(row)
  }
  let isEmpty = false
  while (!isFilled() && atMs < running.endsAtMs + horizonMs && placed.length < rowsAtMost) {
    placeInterrupts()
    if (isFilled()) break
    const decision = pick(slotAt(atMs), random(), inserted < withdrawn.size ? 'replaced' : 'fill')
    if (!decision) {
      isEmpty = true
      break
    }
    placeNew(decision)
  }
  const [head] = placed
  return {
    ...positioned(queue, placed, moved, nextSeq),
    withdraw: [...withdrawn],
    runningEndsMs,
    first: head ? { ...head, seq: head.id === null ? head.seq : null, endsAtMs: firstEndsMs } : null,
    wakeAtMs: isEmpty && !head ? nextChance(library, nowMs) : null
  }

  function slotAt(timeMs: number, behind: readonly Play[] = left): Slot {
    return { library, ahead: placed, behind, atMs: timeMs, rejected }
  }

  function isFilled(): boolean {
    return counted >= wanted
  }

  /** A step that is computed twice draws the same for the same slot. */
  function random() {
    return randomOf(rules.seed, nextSeq + inserted)
  }

  function place(row: Placed): void {
    const isSent = row.id !== null && row.isSent
    const durationMs = lengthAt(row)
    if (insertedWhy !== null && row.id !== null) moved.set(row.id, insertedWhy)
    if (!isSent || counted === 0) counted++
    placed.push({ ...row, cuedAtMs: isSent ? row.cuedAtMs : previousMs, startsAtMs: atMs, durationMs })
    const endMs = nextStartMs(atMs, durationMs, rules.overlapMs)
    previousMs = atMs
    // What is on its way to the air cannot be cut in before.
    atMs = (left[0]?.isSent || isFilled() ? null : cutOf(row, atMs, endMs)) ?? endMs
    if (placed.length === 1) firstEndsMs = atMs
  }

  /** A stream with a schedule plays to the end of its window, whenever it begins. */
  function lengthAt(row: Play): number {
    const playlist = playlistOf(row)
    if (playlist?.source !== 'stream' || playlist.schedule.length === 0) return row.durationMs
    const window = windowAt(rules.zone, playlist.schedule, atMs)
    return window ? window.endMs - atMs : row.durationMs
  }

  function cutOf(play: Cuttable, fromMs: number, toMs: number): number | null {
    return nextCut(play, fromMs, toMs, timeMs => slotAt(timeMs))
  }

  function placeNew({ tracks, log }: Decision): void {
    const batch = tracks.length > 1 ? nextSeq + inserted : null
    for (const [index, track] of tracks.entries()) {
      const seq = nextSeq + inserted
      inserted++
      const row = { ...track, id: null, seq, position: 0, batch, cuedAtMs: 0, startsAtMs: 0 }
      place({ ...row, log: index === 0 ? log : log.slice(0, 1) })
    }
  }

  function take(row: QueuedRow): void {
    left = left.filter(each => each !== row)
    place(row)
  }

  function withdraw(row: QueuedRow): void {
    withdrawn.add(row.id)
    if (row.batch === null) return
    for (const other of left) if (other.batch === row.batch) withdrawn.add(other.id)
    left = left.filter(other => other.batch !== row.batch)
  }

  /** What cuts in and is due goes before everything. */
  function placeInterrupts(): void {
    while (!isFilled() && !left[0]?.isSent) {
      const slot = slotAt(atMs)
      const due = dueInterrupts(slot)
      if (due.length === 0) return
      const log: LogEntry[] = [{ step: 'slot', at: Math.floor(atMs / 1_000), why: 'interrupt' }]
      const decision = pickFrom(slot, { playlists: due, buckets, mayRepeat: true }, random(), log)
      if (!decision) return
      placeDecided(decision, 'window_open')
    }
  }

  /** A row that stands in the queue by the same rule is moved to the front instead. */
  function placeDecided(decision: Decision, why: Moved): void {
    const [track] = decision.tracks
    const rank = rankOfPlay(track)
    const isRepeated = track.song.song === lastBefore(slotAt(atMs))?.song.song
    const waiting =
      rank === null ? undefined : left.find(row => rankOfPlay(row) === rank && isFree(row, isRepeated))
    insertedWhy ??= why
    if (waiting) take(waiting)
    else placeNew(decision)
  }

  /** Of two playlists of one bucket, which comes first is a matter of chance; not so here. */
  function rankOfPlay(play: Play | Picked): number | null {
    const playlist = playlistOf(play)
    return playlist ? rankOf(playlist) + (play.isInterrupt ? 0 : buckets.length + 1) : null
  }

  function playlistOf({ playlistId }: Pick<Play, 'playlistId'>) {
    return playlistId === null ? undefined : byId.get(playlistId)
  }

  function isFixed(row: QueuedRow): boolean {
    return row.isSent || row.isManual || isBegun(row)
  }

  /** A batch that has begun is not split. It has a pass of its own. */
  function isBegun({ batch, playlistId, pass }: QueuedRow): boolean {
    if (batch === null) return false
    return (
      placed.some(row => row.batch === batch) ||
      past.plays.some(play => play.playlistId === playlistId && play.pass === pass)
    )
  }

  function isAllowed(row: QueuedRow): boolean {
    const playlist = playlistOf(row)
    return playlist !== undefined && mayStay(row, playlist, slotAt(atMs))
  }

  function isFree(row: QueuedRow, mayRepeat: boolean): boolean {
    if (row.isSent || row.isManual || row.batch !== null || row.requestId !== null) return false
    return isAllowed(row) && (mayRepeat || !repeatsLast(row))
  }

  function repeatsLast(row: QueuedRow): boolean {
    const last = lastBefore(slotAt(atMs))
    if (last?.song.song !== row.song.song) return false
    const own = last.playlistId === row.playlistId ? playlistOf(row) : undefined
    return !own || !isSequence(own)
  }

  /** The same song twice in a row, which came together by what left the queue, where there is another one. */
  function isRepetition(row: QueuedRow): boolean {
    if (!repeatsLast(row)) return false
    const slot = slotAt(atMs)
    const other = row.isInterrupt
      ? pickFrom(slot, { playlists: dueInterrupts(slot), buckets, mayRepeat: true }, random(), [])
      : pick(slot, random())
    return other !== null && other.tracks[0].song.song !== row.song.song
  }

  /** Between requests that came together by what left the queue, something else has to be played. */
  function placeRequest(row: QueuedRow): void {
    const slot = slotAt(atMs, [row, ...left])
    const { song } = row.song
    const lastSong = lastBefore(slot)?.song.song
    if (song === lastSong || isRunFull(slot)) {
      const between = left.find(each => each.song.song !== song && isFree(each, false))
      if (between) {
        left = [between, row, ...left.filter(each => each !== between)]
        return
      }
      const decision = pick(slot, random())
      const other = decision?.tracks[0].song.song
      if (decision && other !== song && other !== lastSong) placeNew(decision)
    }
    place(row)
  }

  /** Scheduled rotation takes the place of a row, everything else goes in front of it. */
  function placeOrReplace(row: QueuedRow): void {
    for (let count = 0; count < insertionsAtMost; count++) {
      const more = outranking(row)
      if (!more) break
      if (more === 'replaced') return withdraw(row)
      placeDecided(more.decision, more.why)
      placeInterrupts()
    }
    place(row)
  }

  function outranking(row: QueuedRow): { decision: Decision; why: Moved } | 'replaced' | null {
    if (row.isInterrupt) return null
    const slot = slotAt(atMs, [row, ...left])
    const { picked } = dueRequest(slot)
    const from = Math.floor(atMs / 1_000)
    if (picked) {
      const log: LogEntry[] = [{ step: 'slot', at: from, why: 'request_due' }]
      return { decision: requested(picked, log), why: 'request_inserted' }
    }
    const own = playlistOf(row)
    if (own?.type === 'default' && dueInterrupts(slot).some(({ type }) => type === 'default'))
      return 'replaced'
    const above = buckets.slice(0, own && rankOf(own))
    const log: LogEntry[] = [{ step: 'slot', at: from, why: 'window_open' }]
    const decision = pickFrom(slot, { playlists: rotation, buckets: above, mayRepeat: false }, random(), log)
    if (!decision) return null
    return playlistOf(decision.tracks[0])?.type === 'default' ? 'replaced' : { decision, why: 'window_open' }
  }
}
