/** A row of the queue that is still to be played. */
export interface SendableRow {
  readonly id: number
  readonly isSent: boolean
  readonly isInterrupt: boolean
  readonly cuedAtMs: number
  readonly startsAtMs: number
}

/** A playout loads a song this long before it begins. */
const aheadMs = 20_000

/** A playout has one song about to begin and one behind it. */
const aheadAtMost = 2

/** An answer that was lost is asked for again after a pause; a song that is loaded ahead, at once. */
const againMs = 5_000

/**
 * The row that a playout gets which asks for its next song; null where there is none. `queue`: in playing order, what was sent
 * first. `lastId` is the last row it got; 0: it has just started, null: it does not tell. The same question gets the same answer, so a
 * lost one costs no song. What cuts in is not asked for: the playout is told of it.
 */
export function nextToSend<Row extends SendableRow>(
  queue: readonly Row[],
  lastId: number | null,
  nowMs: number
): Row | null {
  const rows = queue.filter(row => !row.isInterrupt)
  const at = rows.findIndex(row => row.id === lastId)
  if (lastId !== null) return rows[at + 1] ?? null
  const sent = rows.filter(row => row.isSent)
  const newest = sent.at(-1)
  const isLost =
    newest !== undefined && nowMs - newest.cuedAtMs > againMs && newest.startsAtMs - nowMs > aheadMs
  return (isLost || sent.length >= aheadAtMost ? newest : rows.find(row => !row.isSent)) ?? null
}
