import { overlaps, type TimeSpan, uncoveredMs, type Violation } from './violation.ts'

/** A row of `song_history`. Times are Unix milliseconds. */
export interface HistoryPlay {
  readonly id: number
  readonly startedAtMs: number
  /** Null for the current play. */
  readonly endedAtMs: number | null
  /** When the engine must end it; null if only a report can. */
  readonly dueAtMs: number | null
}

/** The context for checking the history of a station. */
export interface HistoryContext {
  readonly stationId: number
  /**
   * `clock`: the engine ends plays on time. `liquidsoap`: a playout reports them, also late, so ids may be
   * out of order.
   */
  readonly backend: 'clock' | 'liquidsoap'
  readonly nowMs: number
  /** Time spans during and shortly after faults: plays may be late or long in them, and stations silent. */
  readonly disturbed: readonly TimeSpan[]
  /**
   * Those of them in which the clock of Postgres jumped, in correct time and shifted by the jump. Between two
   * moments in them, hours may pass.
   */
  readonly jumps?: readonly TimeSpan[]
  /** Plays that an operator has tried to skip. */
  readonly skipped: ReadonlySet<number>
}

/** How much earlier than planned a play may start or end: the tolerance of the engine. Milliseconds. */
const earlyByMs = 25
/**
 * How long the current play may be overdue without a fault before it is ended as of its planned time.
 * Milliseconds.
 */
const overdueByMs = 4_000
/**
 * The time after a fault within which a playout reports its next song: its songs are shorter. Milliseconds.
 */
const reportedWithinMs = 8_500
/**
 * How much longer than the fault a play may be delayed: its job may be lost with a process, and then the
 * sweep ends it. Milliseconds.
 */
const lateByMs = 2_500
/** How far in the future a play may start, because clocks are measured. Milliseconds. */
const aheadByMs = 1_000

/**
 * Checks the history of one station: rows are in order without overlap, at most one play is open, and there
 * are no gaps, no plays cut short without a skip, and no late ends, except those explained by a fault.
 * `plays` are ordered by id. Returns all violations.
 */
export function judgeHistory(plays: readonly HistoryPlay[], context: HistoryContext): Violation[] {
  const { stationId, backend } = context
  const found: Violation[] = []
  const report = (rule: string, play: HistoryPlay, detail: string) =>
    found.push({ rule, stationId, detail: `play ${play.id}: ${detail}; ${describe(play)}` })
  const ordered =
    backend === 'clock' ? plays : plays.toSorted((a, b) => a.startedAtMs - b.startedAtMs || a.id - b.id)
  const isDisturbed = (fromMs: number, toMs: number) =>
    context.disturbed.some(span => overlaps(span, { fromMs, toMs }))
  const undisturbedMs = (fromMs: number, toMs: number) => uncoveredMs({ fromMs, toMs }, context.disturbed)
  /** A fault explains a delay while it is active, not afterwards. */
  const isIn = (atMs: number, spans: readonly TimeSpan[]) =>
    spans.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
  const { jumps = [] } = context
  const isIntersected = (span: TimeSpan, spans: readonly TimeSpan[]) =>
    spans.some(each => overlaps(each, span))
  /** Whether the clock was set from one time to another, or up to `earlierMs` before that. */
  const isJump = (fromMs: number, toMs: number, earlierMs = 0) => {
    const reached = { fromMs: toMs - earlierMs, toMs }
    return (
      (isIn(fromMs, jumps) && isIntersected(reached, context.disturbed)) ||
      (isIn(fromMs, context.disturbed) && isIntersected(reached, jumps))
    )
  }
  const isExplained = (fromMs: number, toMs: number, withinMs = lateByMs) =>
    (isDisturbed(fromMs, toMs) && undisturbedMs(fromMs, toMs) <= withinMs) || isJump(fromMs, toMs)
  const silenceMs = backend === 'clock' ? lateByMs : reportedWithinMs

  for (const [index, play] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next) judgePair(play, next)
    if (backend === 'clock') judgeLength(play)
  }
  const last = ordered.at(-1)
  if (last) judgeLast(last)
  return found

  function judgePair(play: HistoryPlay, next: HistoryPlay): void {
    if (next.startedAtMs < play.startedAtMs)
      report('history in order', next, `starts before play ${play.id}, which precedes it`)
    if (play.endedAtMs === null)
      return void report('one open play', play, `is open although play ${next.id} follows`)
    if (play.endedAtMs > next.startedAtMs)
      report('no overlap', play, `ends ${play.endedAtMs - next.startedAtMs} ms after play ${next.id} starts`)
    const gapMs = next.startedAtMs - play.endedAtMs
    // The next report of a playout may arrive some time after the fault.
    const isAcrossJump = isJump(play.startedAtMs, next.startedAtMs, silenceMs)
    if (gapMs > 0 && !isAcrossJump && !isExplained(play.endedAtMs, next.startedAtMs, silenceMs))
      report('no gap', play, `${gapMs} ms of silence before play ${next.id}, not explained by a fault`)
  }

  function judgeLength(play: HistoryPlay): void {
    const { id, startedAtMs, endedAtMs, dueAtMs } = play
    if (endedAtMs === null || dueAtMs === null) return
    const early = dueAtMs - endedAtMs
    if (early > earlyByMs && !context.skipped.has(id) && !isDisturbed(endedAtMs, dueAtMs))
      report('no play cut short', play, `ended ${early} ms early without a skip`)
    // A skip of an overdue play ends it at the time of the skip.
    const isLateSkip = context.skipped.has(id) && -early <= overdueByMs
    if (early < 0 && !isLateSkip && !isJump(startedAtMs, endedAtMs) && !isExplained(dueAtMs, endedAtMs))
      report('no drift', play, `ended ${-early} ms late, not explained by a fault`)
  }

  function judgeLast(play: HistoryPlay): void {
    const { nowMs } = context
    if (play.startedAtMs > nowMs + aheadByMs && !isDisturbed(nowMs, nowMs))
      report('no play in the future', play, `starts ${play.startedAtMs - nowMs} ms from now`)
    if (backend !== 'clock') return
    const sinceMs = play.endedAtMs ?? play.dueAtMs ?? nowMs
    const waitedMs = undisturbedMs(sinceMs, nowMs)
    if (waitedMs <= overdueByMs) return
    if (play.endedAtMs === null) report('no play stuck', play, `is overdue by ${nowMs - sinceMs} ms`)
    else report('no silence', play, `ended ${nowMs - sinceMs} ms ago and nothing follows`)
  }
}

function describe({ startedAtMs, endedAtMs, dueAtMs }: HistoryPlay): string {
  const time = (ms: number | null) => (ms === null ? 'open' : new Date(ms).toISOString().slice(11, 23))
  return `${time(startedAtMs)} to ${time(endedAtMs)}, due ${time(dueAtMs)}`
}
