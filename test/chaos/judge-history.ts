import { overlaps, type TimeSpan, uncoveredMs, type Violation } from './violation.ts'

/** A row of `song_history`. Instants are Unix milliseconds. */
export interface HistoryPlay {
  readonly id: number
  readonly startedAtMs: number
  /** Null while it is on air. */
  readonly endedAtMs: number | null
  /** When the clock has to end it; null where only a report can. */
  readonly dueAtMs: number | null
}

/** What a station's history is judged by. */
export interface HistoryContext {
  readonly stationId: number
  /**
   * `clock`: the engine ends plays on time. `liquidsoap`: a playout reports them, also late, so ids may be
   * out of order.
   */
  readonly backend: 'clock' | 'liquidsoap'
  readonly nowMs: number
  /** While faults were on, and shortly after: plays may be late or long then, and stations silent. */
  readonly disturbed: readonly TimeSpan[]
  /**
   * Those of them in which the time of Postgres jumped, in true time and in that of the jump: from one moment
   * of them to another hours may lie.
   */
  readonly jumps?: readonly TimeSpan[]
  /** Plays that an operator has tried to skip. */
  readonly skipped: ReadonlySet<number>
}

/** A play may begin or end so much earlier than planned: the tolerance of the engine. Milliseconds. */
const earlyByMs = 25
/**
 * The play on air may be overdue by so much while nothing is disturbed: then it is ended as of its time.
 * Milliseconds.
 */
const overdueByMs = 4_000
/**
 * After a fault a playout is heard of again when its next song starts: its songs are shorter. Milliseconds.
 */
const reportedWithinMs = 8_500
/**
 * A play that a fault delays may be late for so much longer than the fault disturbs: its job may have been
 * lost with a process, and then the sweep ends it. Milliseconds.
 */
const lateByMs = 2_500
/** A play may begin so much after now: clocks are measured. Milliseconds. */
const aheadByMs = 1_000

/**
 * Judges the history of one station: rows in order, no overlap, one open play at most, and no gap, no play
 * that is shorter than planned without a skip, and none that is longer, but for what a fault explains.
 * `plays` are ordered by id. Returns every violation.
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
  /** A fault explains a delay while it disturbs, and not what goes on after it. */
  const isIn = (atMs: number, spans: readonly TimeSpan[]) =>
    spans.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
  const { jumps = [] } = context
  const isIntersected = (span: TimeSpan, spans: readonly TimeSpan[]) =>
    spans.some(each => overlaps(each, span))
  /** Whether the time was set from an instant to another, or to one up to so much before that. */
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
      report('history in order', next, `starts before the play ${play.id} ahead of it`)
    if (play.endedAtMs === null)
      return void report('one open play', play, `is open although play ${next.id} follows`)
    if (play.endedAtMs > next.startedAtMs)
      report('no overlap', play, `ends ${play.endedAtMs - next.startedAtMs} ms after play ${next.id} starts`)
    const gapMs = next.startedAtMs - play.endedAtMs
    // A playout may be heard of again a while after the fault.
    const isAcrossJump = isJump(play.startedAtMs, next.startedAtMs, silenceMs)
    if (gapMs > 0 && !isAcrossJump && !isExplained(play.endedAtMs, next.startedAtMs, silenceMs))
      report('no gap', play, `${gapMs} ms of silence before play ${next.id} that no fault explains`)
  }

  function judgeLength(play: HistoryPlay): void {
    const { id, startedAtMs, endedAtMs, dueAtMs } = play
    if (endedAtMs === null || dueAtMs === null) return
    const early = dueAtMs - endedAtMs
    if (early > earlyByMs && !context.skipped.has(id) && !isDisturbed(endedAtMs, dueAtMs))
      report('no play cut short', play, `ended ${early} ms early and nobody skipped it`)
    // Whoever skips a play that is overdue already ends it when the skip comes.
    const isLateSkip = context.skipped.has(id) && -early <= overdueByMs
    if (early < 0 && !isLateSkip && !isJump(startedAtMs, endedAtMs) && !isExplained(dueAtMs, endedAtMs))
      report('no drift', play, `ended ${-early} ms late and no fault explains it`)
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
