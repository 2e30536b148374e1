import type { Play } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import type { MovedRow, NewRow, QueuedRow } from './refill.ts'
import type { Moved, Row } from './walk.ts'

/** Places in the order of play: rows of the queue keep theirs unless something comes before them. */
export function positioned(
  queue: readonly QueuedRow[],
  placed: readonly Row[],
  moved: ReadonlyMap<number, Moved>,
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
  { cuedAtMs, startsAtMs, durationMs }: Play & { readonly cuedAtMs: number },
  position: number,
  why: Moved | undefined
): MovedRow {
  const from = Math.floor(fromMs / 1_000)
  const to = Math.floor(startsAtMs / 1_000)
  const log: LogEntry[] = why !== undefined && from !== to ? [{ step: 'moved', from, to, why }] : []
  return { id, position, cuedAtMs, startsAtMs, durationMs, log }
}
