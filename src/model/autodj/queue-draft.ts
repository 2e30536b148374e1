import type { ChosenSong, SlotDecision } from './candidates.ts'
import { nextStartMs, overlapWithNextMs, streamDurationMs } from './durations.ts'
import { findNextInterruptMs, type InterruptiblePlay } from './interrupt.ts'
import type { PlayOrRow, AutodjLibrary, Playlist, QueueSlot } from './library.ts'
import type { DecisionLogEntry, MoveReason } from './log-entry.ts'
import { type RandomSource, createSeededRandom } from './random.ts'
import { findWindowAt } from './schedule.ts'
import { hourMs } from './time-zone.ts'

/** A row of the queue that has not been played. `startsAtMs` is its planned start. */
export interface QueuedRow extends PlayOrRow {
  readonly id: number
  readonly position: number
  readonly cuedAtMs: number
  /** Whether a playout has it and will play it. */
  readonly isSent: boolean
  /** Whether an operator added it. Only an operator removes it. */
  readonly isManual: boolean
  /** Rows of one batch play back to back. */
  readonly batch: number | null
}

/** A row to be inserted. `seq` is the number of its slot. */
export interface NewQueueRow
  extends ChosenSong, Pick<QueuedRow, 'position' | 'batch' | 'cuedAtMs' | 'startsAtMs'> {
  readonly seq: number
  readonly log: readonly DecisionLogEntry[]
}

/** What is on air before the first row. */
export interface RunningPlay extends InterruptiblePlay {
  readonly startedAtMs: number
  /** When the first row starts, unless an interrupt comes earlier. */
  readonly endsAtMs: number
}

export interface PlannerInput {
  readonly library: AutodjLibrary
  readonly running: RunningPlay
  readonly nowMs: number
  /** In playing order; sent rows come first. */
  readonly queue: readonly QueuedRow[]
  readonly queueLength: number
  /** Tracks that an operator has just removed from the queue. */
  readonly rejected: ReadonlySet<number>
  readonly nextSeq: number
}

/** A row of the queue, or a new one without an id. */
export type DraftRow = QueuedRow | AddedRow
type AddedRow = NewQueueRow & { readonly id: null; readonly isSent: false; readonly isManual: false }

/** A queue that is being planned in playing order: rows that have a place and time, and remaining rows. */
export interface QueueDraft {
  readonly input: PlannerInput
  readonly playlists: ReadonlyMap<number, Playlist>
  readonly planned: DraftRow[]
  remaining: readonly DraftRow[]
  /** Ids of rows that leave the queue. */
  readonly withdrawn: Set<number>
  readonly moveReasons: Map<number, MoveReason>
  /** Why the following rows play later; null until a row was inserted before them. */
  moveReason: MoveReason | null
  addedCount: number
  /** Planned rows that count for the length of the queue. */
  countedRows: number
  /** Start of the last planned row. */
  previousStartMs: number
  /** Start of the next row. */
  atMs: number
  firstEndsMs: number
}

export function beginQueueDraft(input: PlannerInput): QueueDraft {
  const { library, running } = input
  return {
    input,
    playlists: new Map(library.playlists.map(playlist => [playlist.id, playlist])),
    planned: [],
    remaining: input.queue,
    withdrawn: new Set(),
    moveReasons: new Map(),
    moveReason: null,
    addedCount: 0,
    countedRows: 0,
    previousStartMs: running.startedAtMs,
    atMs: running.endsAtMs,
    firstEndsMs: 0
  }
}

const minQueueLength = 2
/** No row is added that would start later than this after the current play. */
const horizonMs = 6 * hourMs

/** Whether the queue is shorter than it should be, so that a row may be added. */
export function hasQueueRoom({ countedRows, input, atMs }: QueueDraft): boolean {
  const { queueLength, running } = input
  return countedRows < Math.max(queueLength, minQueueLength) && atMs < running.endsAtMs + horizonMs
}

/** The next slot, or the same place in the queue at another time. */
export function nextSlot({ input, planned, remaining, atMs }: QueueDraft, timeMs = atMs): QueueSlot {
  const { library, rejected } = input
  return { library, rowsBefore: planned, rowsAfter: remaining, atMs: timeMs, rejected }
}

/** The generator of the next slot. A step that is computed twice draws the same numbers. */
export function openSlotRandom({ input, addedCount }: QueueDraft): RandomSource {
  return createSeededRandom(input.library.rules.seed, input.nextSeq + addedCount)
}

export function findPlaylistOfRow(
  { playlists }: QueueDraft,
  { playlistId }: Pick<PlayOrRow, 'playlistId'>
): Playlist | undefined {
  return playlistId === null ? undefined : playlists.get(playlistId)
}

/** Whether the next row was sent to a playout that does not allow interrupts before it. */
export function isInterruptBlocked({ remaining, input }: QueueDraft): boolean {
  return remaining[0]?.isSent === true && !input.library.rules.cutsBeforeSent
}

/** When a play is interrupted between two times, or null. */
export function findInterruptMs(
  draft: QueueDraft,
  play: InterruptiblePlay,
  fromMs: number,
  toMs: number
): number | null {
  if (isInterruptBlocked(draft)) return null
  return findNextInterruptMs(play, fromMs, toMs, timeMs => nextSlot(draft, timeMs))
}

/** Plans a remaining row next. The rest of its batch follows directly. */
export function appendRow(draft: QueueDraft, row: DraftRow): void {
  planRows(draft, removeBatch(draft, row))
}

/** Plans new rows next. */
export function appendDecision(draft: QueueDraft, { tracks, log }: SlotDecision): void {
  const firstSeq = draft.input.nextSeq + draft.addedCount
  const batch = tracks.length > 1 ? firstSeq : null
  const rows = tracks.map((track, index): AddedRow => ({
    ...track,
    id: null,
    seq: firstSeq + index,
    position: 0,
    batch,
    cuedAtMs: 0,
    startsAtMs: 0,
    log: index === 0 ? log : log.slice(0, 1),
    isSent: false,
    isManual: false
  }))
  draft.addedCount += rows.length
  planRows(draft, rows)
}

/** Removes a row and the rest of its batch from the queue. */
export function withdrawBatch(draft: QueueDraft, row: DraftRow): void {
  for (const { id } of removeBatch(draft, row)) if (id !== null) draft.withdrawn.add(id)
}

function removeBatch(draft: QueueDraft, row: DraftRow): DraftRow[] {
  const isOfBatch = (each: DraftRow) => each === row || (row.batch !== null && each.batch === row.batch)
  const rows = draft.remaining.filter(isOfBatch)
  draft.remaining = draft.remaining.filter(each => !isOfBatch(each))
  return rows
}

function planRows(draft: QueueDraft, [row, ...others]: readonly DraftRow[]): void {
  draft.remaining = [...others, ...draft.remaining]
  if (!row) return
  const { planned, moveReasons, moveReason, input, atMs } = draft
  const durationMs = plannedDurationOf(draft, row)
  if (moveReason !== null && row.id !== null) moveReasons.set(row.id, moveReason)
  // All sent rows count as one.
  if (!row.isSent || draft.countedRows === 0) draft.countedRows++
  const cuedAtMs = row.isSent ? row.cuedAtMs : draft.previousStartMs
  planned.push({ ...row, cuedAtMs, startsAtMs: atMs, durationMs })
  const overlapMs = overlapWithNextMs(row, input.library.rules.overlapMs)
  const endMs = nextStartMs(atMs, durationMs, overlapMs)
  draft.previousStartMs = atMs
  draft.atMs = (hasQueueRoom(draft) ? findInterruptMs(draft, row, atMs, endMs) : null) ?? endMs
  if (planned.length === 1) draft.firstEndsMs = draft.atMs
}

/** The duration of a row at the next slot. That of a stream depends on its start. */
function plannedDurationOf(draft: QueueDraft, row: DraftRow): number {
  const playlist = findPlaylistOfRow(draft, row)
  if (playlist?.source !== 'stream') return row.durationMs
  const { schedule } = playlist
  if (schedule.length === 0) return streamDurationMs(nextSlot(draft), null)
  const window = findWindowAt(draft.input.library.rules.zone, schedule, draft.atMs)
  return window === null ? row.durationMs : streamDurationMs(nextSlot(draft), window)
}
