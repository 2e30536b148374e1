import { lastPlay } from './due.ts'
import { isExpiredRequest } from './estimate.ts'
import { isOverdue } from './interrupt.ts'
import { isPlayable, type Library, type HeardPlay } from './library.ts'
import type { LogEntry, PickedSong } from './log-entry.ts'
import { pick } from './pick.ts'
import { placeInterrupt, placeOrYield, placeRequest } from './precedence.ts'
import { nextHourlyTarget, nextOpening } from './schedule.ts'
import { isAllowed, isFixed, isRedundant } from './standing.ts'
import { isListed } from './stay.ts'
import {
  beginWalk,
  interruptWithin,
  isClosed,
  isOpen,
  type MoveReason,
  placeAll,
  placeNew,
  playlistOf,
  randomFor,
  type Row,
  slotOf,
  removeFromWalk,
  type Walk,
  withdraw
} from './walk.ts'

/** A row of the queue that has not been played; `startsAtMs` is when it is expected to. */
export interface QueuedRow extends HeardPlay {
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

export interface NewRow extends PickedSong {
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
    | (HeardPlay & { readonly id: number | null; readonly seq: number | null; readonly endsAtMs: number })
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

export interface PlannerInput {
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

const rowsAtMost = 2_000

/**
 * Walks the queue in playing order and gives what has to change in it: rows that may no longer play where
 * they stand are withdrawn, what is more important goes in front of them, the end is filled up, and all are
 * told when they will play. A row stays exactly where it would be chosen again by what comes before it, so
 * applied to its own result this plans nothing. Deterministic, so a step that is computed twice ends in the
 * same queue.
 */
export function refill(situation: PlannerInput): Plan {
  const { library, nowMs, queue, nextSeq } = situation
  const walk = beginWalk(situation)
  for (const row of walk.left) if (!isThere(walk, row)) walk.withdrawn.add(row.id ?? 0)
  walk.left = walk.left.filter(row => !walk.withdrawn.has(row.id ?? 0))
  walk.atMs = endOfRunning(walk)
  const runningEndsMs = walk.atMs
  let isEmpty = false
  while (!isEmpty && walk.placed.length < rowsAtMost) {
    if (isOpen(walk) && placeInterrupt(walk)) continue
    const [row, behind] = walk.left
    if (!row) {
      if (!isOpen(walk)) break
      isEmpty = !placeNext(walk)
    } else if (isFixed(walk, row)) placeAll(walk, removeFromWalk(walk, row))
    else if (row.requestId !== null) placeRequest(walk, row)
    else if (!isAllowed(walk, row)) {
      // The time of what cuts in may come behind the next row.
      if (row.isInterrupt && behind && !behind.isInterrupt) walk.left = [behind, row, ...walk.left.slice(2)]
      else withdraw(walk, row)
    } else if (isRedundant(walk, row)) withdraw(walk, row)
    else placeOrYield(walk, row)
  }
  const [first] = walk.placed
  return {
    ...positioned(queue, walk.placed, walk.moved, nextSeq),
    withdraw: [...walk.withdrawn],
    runningEndsMs,
    first: first ? { ...first, seq: first.id === null ? first.seq : null, endsAtMs: walk.firstEndsMs } : null,
    wakeAtMs: isEmpty && !first ? nextChance(library, nowMs) : null
  }
}

/**
 * Whether a row still has what it plays. A batch that has begun keeps its place, but not what its list has
 * lost.
 */
function isThere(walk: Walk, row: Row): boolean {
  if (row.isSent || row.isManual || row.requestId !== null) return true
  const playlist = playlistOf(walk, row)
  return playlist !== undefined && isListed(row, playlist)
}

/** When the play that runs ends: by itself, or because something cuts it. */
function endOfRunning(walk: Walk): number {
  const { running, nowMs } = walk.situation
  const { startedAtMs, endsAtMs, ...play } = running
  const isCutNow = endsAtMs > nowMs && !isClosed(walk) && isOverdue(play, slotOf(walk, nowMs))
  return isCutNow ? nowMs : (interruptWithin(walk, play, Math.max(nowMs, startedAtMs), endsAtMs) ?? endsAtMs)
}

/** Fills the next slot; gives whether there was something for it. */
function placeNext(walk: Walk): boolean {
  const why = walk.added < walk.withdrawn.size ? 'replaced' : 'fill'
  const decision = pick(slotOf(walk), randomFor(walk), why)
  if (decision) placeNew(walk, decision)
  return decision !== null
}

const lookAheadMs = 32 * 86_400_000
/** A request that may not be played yet is looked at again after this time. */
const requestMs = 60_000

/**
 * When a silent station may have something to play, null if only a change of its library can tell. Unix
 * milliseconds.
 */
function nextChance(library: Library, nowMs: number): number | null {
  const { playlists, requests, rules } = library
  const slot = { library, ahead: [], behind: [], atMs: nowMs, rejected: new Set<number>() }
  const times = requests
    .filter(request => !isExpiredRequest(request, slot))
    .map(({ dueAtMs }) => (dueAtMs > nowMs ? dueAtMs : nowMs + requestMs))
  for (const { id, schedule, type, everyMinutes, hourMinute } of playlists.filter(isPlayable)) {
    if (schedule.length > 0) times.push(nextOpening(rules.zone, schedule, nowMs, lookAheadMs) ?? Infinity)
    if (type === 'once_per_hour') times.push(nextHourlyTarget(rules.zone, hourMinute, nowMs))
    const last = type === 'once_per_x_minutes' && everyMinutes > 0 ? lastPlay(slot, id) : null
    if (last) times.push(last.startsAtMs + everyMinutes * 60_000)
  }
  const next = Math.min(...times.filter(time => time > nowMs))
  return Number.isFinite(next) ? next : null
}

/** Places in the order of play: rows of the queue keep theirs unless something comes before them. */
function positioned(
  queue: readonly QueuedRow[],
  placed: readonly Row[],
  moved: ReadonlyMap<number, MoveReason>,
  nextSeq: number
): { insert: NewRow[]; move: MovedRow[] } {
  const insert: NewRow[] = []
  const move: MovedRow[] = []
  const original = new Map(queue.map(row => [row.id, row]))
  let position = queue.reduce((least, row) => Math.min(least, row.position), nextSeq) - 1
  for (const row of placed) {
    if (row.id === null) {
      position++
      const { id: _id, isSent: _sent, isManual: _manual, ...rest } = row
      insert.push({ ...rest, position })
      continue
    }
    const before = original.get(row.id)
    position = Math.max(position + 1, row.position)
    const isSame =
      before?.position === position &&
      before.cuedAtMs === row.cuedAtMs &&
      before.startsAtMs === row.startsAtMs &&
      before.durationMs === row.durationMs
    if (before && !isSame) move.push(movedRow(before, row, position, moved.get(row.id)))
  }
  return { insert, move }
}

function movedRow(
  { id, startsAtMs: fromMs }: QueuedRow,
  { cuedAtMs, startsAtMs, durationMs }: HeardPlay & { readonly cuedAtMs: number },
  position: number,
  why: MoveReason | undefined
): MovedRow {
  const from = Math.floor(fromMs / 1_000)
  const to = Math.floor(startsAtMs / 1_000)
  const log: LogEntry[] = why !== undefined && from !== to ? [{ step: 'moved', from, to, why }] : []
  return { id, position, cuedAtMs, startsAtMs, durationMs, log }
}
