import { streamLengthAt } from './choose.ts'
import { nextStartMs } from './estimate.ts'
import { type Cuttable, nextCut } from './interrupt.ts'
import type { HeardPlay, Playlist, Slot } from './library.ts'
import type { Decision } from './log-entry.ts'
import type { NewRow, QueuedRow, PlannerInput } from './refill.ts'
import { windowAt } from './schedule.ts'
import { type Random, randomOf } from './zone.ts'

/** A row of the queue, or one that is added to it and has no id yet. */
export type Row = QueuedRow | FreshRow
export type FreshRow = NewRow & { readonly id: null; readonly isSent: false; readonly isManual: false }

/** Why a row plays later than it was told. */
export type MoveReason = 'request_inserted' | 'window_open'

/**
 * A walk through a queue in playing order: rows that have got their place and time, and those that have not.
 */
export interface Walk {
  readonly situation: PlannerInput
  readonly byId: ReadonlyMap<number, Playlist>
  readonly placed: Row[]
  left: readonly Row[]
  readonly withdrawn: Set<number>
  readonly moved: Map<number, MoveReason>
  /** Why what follows comes later, once something was put in front of it. */
  movedWhy: MoveReason | null
  added: number
  /** The rows that count for the length of the queue. */
  counted: number
  /** When the last row begins that has its place. */
  previousMs: number
  /** When the next one begins. */
  atMs: number
  firstEndsMs: number
}

export function beginWalk(situation: PlannerInput): Walk {
  const { library, running } = situation
  return {
    situation,
    byId: new Map(library.playlists.map(playlist => [playlist.id, playlist])),
    placed: [],
    left: situation.queue,
    withdrawn: new Set(),
    moved: new Map(),
    movedWhy: null,
    added: 0,
    counted: 0,
    previousMs: running.startedAtMs,
    atMs: running.endsAtMs,
    firstEndsMs: 0
  }
}

/** The slot that comes next, or another time in it. */
export function slotOf({ situation, placed, left, atMs }: Walk, timeMs = atMs): Slot {
  const { library, rejected } = situation
  return { library, ahead: placed, behind: left, atMs: timeMs, rejected }
}

/** No row is added that would begin later than this from now, or from the end of what runs. */
const horizonMs = 6 * 3_600_000

/** Whether a row may be added in the next slot: the queue is not as long as it should be. */
export function isOpen({ counted, situation, atMs }: Walk): boolean {
  const { queueLength, running } = situation
  return counted < Math.max(queueLength, 2) && atMs < running.endsAtMs + horizonMs
}

/** A step that is computed twice draws the same for the same slot. */
export function randomFor({ situation, added }: Walk): Random {
  return randomOf(situation.library.rules.seed, situation.nextSeq + added)
}

export function playlistOf(
  { byId }: Walk,
  { playlistId }: Pick<HeardPlay, 'playlistId'>
): Playlist | undefined {
  return playlistId === null ? undefined : byId.get(playlistId)
}

/** Whether the next row is on its way to the air and cannot be cut in before. */
export function isClosed({ left, situation }: Walk): boolean {
  return left[0]?.isSent === true && !situation.library.rules.cutsBeforeSent
}

/** When a play that would be heard from one time to another is cut. */
export function interruptWithin(walk: Walk, play: Cuttable, fromMs: number, toMs: number): number | null {
  return isClosed(walk) ? null : nextCut(play, fromMs, toMs, timeMs => slotOf(walk, timeMs))
}

/** Gives a row the next place. */
export function place(walk: Walk, row: Row): void {
  const { placed, moved, movedWhy, situation, atMs } = walk
  const durationMs = lengthAt(walk, row)
  if (movedWhy !== null && row.id !== null) moved.set(row.id, movedWhy)
  // All that was sent counts as one.
  if (!row.isSent || walk.counted === 0) walk.counted++
  placed.push({ ...row, cuedAtMs: row.isSent ? row.cuedAtMs : walk.previousMs, startsAtMs: atMs, durationMs })
  const endMs = nextStartMs(atMs, durationMs, situation.library.rules.overlapMs)
  walk.previousMs = atMs
  walk.atMs = (isOpen(walk) ? interruptWithin(walk, row, atMs, endMs) : null) ?? endMs
  if (placed.length === 1) walk.firstEndsMs = walk.atMs
}

/** A stream plays until it is time for something else, whenever it begins. */
function lengthAt(walk: Walk, row: Row): number {
  const { atMs, situation } = walk
  const playlist = playlistOf(walk, row)
  if (playlist?.source !== 'stream') return row.durationMs
  const { schedule } = playlist
  const window = schedule.length === 0 ? null : windowAt(situation.library.rules.zone, schedule, atMs)
  if (schedule.length > 0 && window === null) return row.durationMs
  return streamLengthAt(slotOf(walk), window)
}

/** Gives what was decided the next place; what belongs to it is left to follow. */
export function placeNew(walk: Walk, { tracks, log }: Decision): void {
  const firstSeq = walk.situation.nextSeq + walk.added
  const batch = tracks.length > 1 ? firstSeq : null
  const rows = tracks.map((track, index): FreshRow => {
    const times = { position: 0, cuedAtMs: 0, startsAtMs: 0 }
    const flags = { id: null, isSent: false, isManual: false } as const
    return {
      ...track,
      ...times,
      ...flags,
      seq: firstSeq + index,
      batch,
      log: index === 0 ? log : log.slice(0, 1)
    }
  })
  walk.added += rows.length
  placeAll(walk, rows)
}

/** Gives the first of some rows the next place, and leaves the others to follow. */
export function placeAll(walk: Walk, [first, ...others]: readonly Row[]): void {
  walk.left = [...others, ...walk.left]
  if (first) place(walk, first)
}

/** Takes a row out of what is left, with all of its batch. */
export function removeFromWalk(walk: Walk, row: Row): Row[] {
  const isOne = (each: Row) => each === row || (row.batch !== null && each.batch === row.batch)
  const rows = walk.left.filter(isOne)
  walk.left = walk.left.filter(each => !isOne(each))
  return rows
}

/** Lets a row leave the queue, with all of its batch. */
export function withdraw(walk: Walk, row: Row): void {
  for (const { id } of removeFromWalk(walk, row)) if (id !== null) walk.withdrawn.add(id)
}
