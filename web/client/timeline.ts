import type { Known, NowPlaying } from './interface.ts'

/** A document and since when it was current, in local time. */
export interface TimelineEntry {
  readonly np: NowPlaying
  readonly fromMs: number
}

/** The longest delay with which documents can be shown. */
const maxDelayMs = 120_000
/** Bounds the memory for a station whose listener count changes all the time. */
const maxEntries = 1_000

/** A play that arrives this long after its start is late: its own time says when it began. */
const lateMs = 2_000
/** The times of plays are in whole seconds. */
const roundingMs = 500

/**
 * Adds a document that arrived at `atMs`; a server time minus `aheadMs` is local time. Oldest first. Entries that
 * ended more than the longest delay ago are dropped.
 */
export function addDocument(
  timeline: readonly TimelineEntry[],
  np: NowPlaying,
  { atMs, aheadMs }: { readonly atMs: number; readonly aheadMs: number }
): readonly TimelineEntry[] {
  const newest = timeline.at(-1)
  const { sh_id: id, played_at: playedAt } = np.now_playing
  const startedMs = playedAt * 1_000 + roundingMs - aheadMs
  const isNewPlay = id !== 0 && id !== newest?.np.now_playing.sh_id
  const isLate = isNewPlay && atMs - startedMs > lateMs
  const fromMs = Math.max(isLate ? startedMs : atMs, newest?.fromMs ?? -Infinity)
  const before = newest === undefined ? beforeFirst(np) : timeline
  const entries = [...before, { np, fromMs }]
  const firstNeeded = entries.findLastIndex(each => each.fromMs <= atMs - maxDelayMs)
  return entries.slice(Math.max(firstNeeded, entries.length - maxEntries, 0))
}

/** What was current before the first document, according to its history. */
function beforeFirst(np: NowPlaying): readonly TimelineEntry[] {
  const [last, ...others] = np.song_history
  if (last === undefined || np.now_playing.sh_id === 0) return []
  const {
    elapsed: _elapsed,
    remaining: _remaining,
    streamer: _streamer,
    sh_id: _id,
    ...next
  } = np.now_playing
  const isLive = last.streamer !== ''
  return [
    {
      np: {
        ...np,
        live:
          isLive === np.live.is_live
            ? np.live
            : { ...notLive, is_live: isLive, streamer_name: last.streamer },
        now_playing: { ...last, elapsed: 0, remaining: last.duration },
        playing_next: { ...next, cued_at: next.played_at },
        song_history: others
      },
      fromMs: -Infinity
    }
  ]
}

const notLive = { is_live: false, streamer_name: '', broadcast_start: null, art: null }

/** Less than this, a change of the delay does not bring an earlier document back. */
const toleranceMs = 1_000

/**
 * The index of the document that was current `delayMs` before `atMs`; the oldest one if none was. `shown` is the entry
 * that is shown now.
 */
export function findShownIndex(
  timeline: readonly TimelineEntry[],
  {
    atMs,
    delayMs,
    shown
  }: { readonly atMs: number; readonly delayMs: number; readonly shown: TimelineEntry | null }
): number {
  const targetMs = atMs - Math.min(delayMs, maxDelayMs)
  const found = Math.max(
    0,
    timeline.findLastIndex(({ fromMs }) => fromMs <= targetMs)
  )
  const current = shown === null ? -1 : timeline.lastIndexOf(shown)
  const isNear = current > found && shown !== null && shown.fromMs - targetMs < toleranceMs
  return isNear ? current : found
}

/** How often the delay is read. */
const checkMs = 250

/** Returns 0 if the function of the page throws. The error is reported as uncaught, as by an event target. */
function tryReadDelay(readDelay: () => number): number {
  try {
    return readDelay()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
    return 0
  }
}

/** Selects the documents to show at a delay, which `readDelay` returns in seconds. */
export function openTimeline(readDelay: () => number) {
  let entries: readonly TimelineEntry[] = []
  let newest: Omit<Known, 'timeMs'> | null = null
  let shown: TimelineEntry | null = null
  let delayMs = 0
  return {
    /** The delay at the last call of `show`. */
    get delayMs() {
      return delayMs
    },
    /** Takes the newest document, and returns the one to show; null if there is none. */
    show(
      document: Omit<Known, 'timeMs'> | null,
      { atMs, aheadMs }: { readonly atMs: number; readonly aheadMs: number }
    ): NowPlaying | null {
      const seconds = tryReadDelay(readDelay)
      delayMs = seconds > 0 ? Math.min(seconds * 1_000, maxDelayMs) : 0
      if (document === null) entries = []
      else if (document.epoch !== newest?.epoch || document.offset !== newest.offset)
        entries = addDocument(entries, document.np, { atMs, aheadMs })
      newest = document
      shown = entries[findShownIndex(entries, { atMs, delayMs, shown })] ?? null
      return shown?.np ?? null
    },
    /** When to call `show` again if nothing is received. */
    nextCheckMs(atMs: number): number {
      const next = entries[shown === null ? 0 : entries.lastIndexOf(shown) + 1]
      const changesAtMs = next === undefined ? Infinity : next.fromMs + delayMs
      return Math.min(Math.max(changesAtMs, atMs), atMs + checkMs)
    }
  }
}
