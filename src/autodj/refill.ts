import { dueAt } from './due.ts'
import { nextStartMs } from './estimate.ts'
import { interrupting, nextCut } from './interrupt.ts'
import { isPlayable, lastBefore, type Library, type Play, type Playlist, type Slot } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { buckets, type Decision, dueRequest, pick, type Picked, pickFrom, requested } from './pick.ts'
import { randomOf } from './random.ts'
import { nextOpening, windowAt } from './schedule.ts'
import { indexOf } from './tracks.ts'

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

type Placed = QueuedRow | (NewRow & { readonly id: null })

const horizonMs = 6 * 3_600_000
const insertionsAtMost = 50
const rowsAtMost = 2_000

/**
 * Walks the queue in playing order and gives what has to change in it: rows that may no longer play where they stand are
 * withdrawn, what is more important goes in front of them, the end is filled up, and all are told when they will play. Applied
 * to its own result it plans nothing. Deterministic, so a step that is computed twice ends in the same queue.
 */
export function refill(situation: Situation): Plan {
  const { library, running, nowMs, queue, queueLength, rejected, nextSeq } = situation
  const { rules, playlists } = library
  const byId = new Map(playlists.map(playlist => [playlist.id, playlist]))
  const placed: Placed[] = []
  const withdrawn = new Set<number>()
  let left: QueuedRow[] = [...queue]
  let inserted = 0
  let insertedWhy: 'request_inserted' | 'window_open' | null = null
  const movedWhy = new Map<number, 'request_inserted' | 'window_open'>()
  let counted = 0
  let previousMs = running.startedAtMs
  let atMs = running.endsAtMs
  let firstEndsMs = 0

  const slotAt = (timeMs: number, behind: readonly Play[] = left): Slot => ({
    library,
    ahead: placed,
    behind,
    atMs: timeMs,
    rejected
  })
  const random = () => randomOf(rules.seed, nextSeq + inserted)

  // A play that runs is cut by what is due at this moment, unless it cuts in itself.
  const held = { playlistId: running.playlistId }
  const isOverdue =
    running.endsAtMs > nowMs &&
    !running.isInterrupt &&
    interrupting(slotAt(nowMs)).some(
      each => each.id !== held.playlistId && dueAt(each, slotAt(nowMs)).why === null
    )
  atMs = isOverdue ? nowMs : (cutWithin(held, Math.max(nowMs, running.startedAtMs), atMs) ?? atMs)
  const runningEndsMs = atMs

  while (left.length > 0 && placed.length < rowsAtMost) {
    placeInterrupts()
    const [row] = left
    if (!row) break
    left = left.slice(1)
    if (isFixed(row)) {
      place(row)
      continue
    }
    const [behind] = left
    if (row.isInterrupt && behind && !behind.isInterrupt && !isStillAllowed(row)) {
      // Its time may come behind the next row.
      left = [behind, row, ...left.slice(1)]
      continue
    }
    if (!isStillAllowed(row) || isRepetition(row)) {
      withdraw(row)
      continue
    }
    let isReplaced = false
    for (let count = 0; count < insertionsAtMost; count++) {
      const more = outranking(row)
      if (!more) break
      if (more.isRotation) {
        withdraw(row)
        isReplaced = true
        break
      }
      insertedWhy = more.why
      if (more.row) take(more.row)
      else if (more.decision) placeNew(more.decision)
      placeInterrupts()
    }
    if (!isReplaced) place(row)
  }
  let isEmpty = false
  while (
    counted < Math.max(queueLength, 2) &&
    atMs < running.endsAtMs + horizonMs &&
    placed.length < rowsAtMost
  ) {
    placeInterrupts()
    if (counted >= Math.max(queueLength, 2)) break
    const decision = pick(slotAt(atMs), random())
    if (!decision) {
      isEmpty = true
      break
    }
    placeNew(decision)
  }
  const wakeAtMs = isEmpty && placed.length === 0 ? nextChance(library, nowMs) : null
  const [head] = placed
  const first = head ? { ...head, seq: head.id === null ? head.seq : null, endsAtMs: firstEndsMs } : null
  return { ...positioned(), withdraw: [...withdrawn], runningEndsMs, first, wakeAtMs }

  function place(row: Placed): void {
    const timed = {
      ...row,
      cuedAtMs: row.id !== null && row.isSent ? row.cuedAtMs : previousMs,
      startsAtMs: atMs,
      durationMs: lengthAt(row)
    }
    if (insertedWhy !== null && row.id !== null) movedWhy.set(row.id, insertedWhy)
    const isSentBefore = row.id !== null && row.isSent && counted > 0
    if (!isSentBefore) counted++
    placed.push(timed)
    const endMs = nextStartMs(atMs, timed.durationMs, rules.overlapMs)
    previousMs = atMs
    atMs = cutWithin(timed, atMs, endMs) ?? endMs
    if (placed.length === 1) firstEndsMs = atMs
  }

  /** A stream with a schedule plays to the end of its window, whenever it begins. */
  function lengthAt({ playlistId, durationMs }: Play): number {
    const playlist = playlistId === null ? undefined : byId.get(playlistId)
    if (playlist?.source !== 'stream' || playlist.schedule.length === 0) return durationMs
    const window = windowAt(rules.zone, playlist.schedule, atMs)
    return window ? window.endMs - atMs : durationMs
  }

  function placeNew({ tracks, log }: Decision): void {
    const batch = tracks.length > 1 ? nextSeq + inserted : null
    for (const [index, track] of tracks.entries()) {
      const seq = nextSeq + inserted
      inserted++
      place({
        ...track,
        id: null,
        seq,
        position: 0,
        batch,
        cuedAtMs: 0,
        startsAtMs: 0,
        log: index === 0 ? log : log.slice(0, 1)
      })
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

  /** What is due at the beginning of a slot and cuts in goes before everything. */
  function placeInterrupts(): void {
    for (let count = 0; count < insertionsAtMost; count++) {
      const next = left[0]
      if (next && (next.isSent || (next.isInterrupt && isStillAllowed(next)))) return
      const slot = slotAt(atMs)
      const due = interrupting(slot).filter(playlist => dueAt(playlist, slot).why === null)
      if (due.length === 0) return
      const waiting = left.find(
        row => row.isInterrupt && due.some(({ id }) => id === row.playlistId) && isStillAllowed(row)
      )
      if (waiting) {
        take(waiting)
        continue
      }
      const log: LogEntry[] = [{ step: 'slot', at: Math.floor(atMs / 1_000), why: 'interrupt' }]
      const decision = pickFrom(slot, due, buckets, random(), log)
      if (!decision) return
      insertedWhy ??= 'window_open'
      placeNew(decision)
      return
    }
  }

  function cutWithin(play: Pick<Play, 'playlistId'>, fromMs: number, toMs: number): number | null {
    return nextCut(play, fromMs, toMs, timeMs => slotAt(timeMs))
  }

  function isFixed(row: QueuedRow): boolean {
    if (row.isSent || row.isManual) return true
    // A batch that has begun is not split.
    const before = placed.at(-1)
    return row.batch !== null && (before ? before.batch === row.batch : isBatchOnAir(row))
  }

  function isBatchOnAir({ playlistId, pass }: QueuedRow): boolean {
    const last = library.past.plays.at(-1)
    return last !== undefined && last.playlistId === playlistId && last.pass === pass
  }

  function isStillAllowed(row: QueuedRow): boolean {
    if (row.requestId !== null) return true
    const playlist = row.playlistId === null ? undefined : byId.get(row.playlistId)
    if (
      !playlist ||
      !isPlayable(playlist) ||
      row.trackId === null ||
      indexOf(playlist.tracks, row.trackId) < 0
    )
      return false
    if (row.isInterrupt !== playlist.options.has('interrupt')) return false
    if (playlist.type !== 'default') return dueAt(playlist, slotAt(atMs)).why === null
    return playlist.schedule.length === 0 || windowAt(rules.zone, playlist.schedule, atMs) !== null
  }

  /** The same song twice in a row, which came together by what left the queue, where there is another one. */
  function isRepetition(row: QueuedRow): boolean {
    const slot = slotAt(atMs)
    const last = lastBefore(slot)
    if (row.requestId !== null || last?.song.song !== row.song.song) return false
    const own = row.playlistId === last.playlistId ? byId.get(row.playlistId ?? 0) : undefined
    if (own && (own.order === 'sequential' || own.options.has('merge'))) return false
    const other = pick(slot, random())
    return other !== null && other.tracks[0].song.song !== last.song.song
  }

  function outranking(row: QueuedRow): Outranking | null {
    if (row.requestId !== null || row.isInterrupt) return null
    const slot = slotAt(atMs, [row, ...left])
    const { picked } = dueRequest(slot)
    if (picked) {
      const entry: LogEntry = { step: 'slot', at: Math.floor(atMs / 1_000), why: 'request_due' }
      return { decision: requested(picked, [entry]), row: null, isRotation: false, why: 'request_inserted' }
    }
    const own = row.playlistId === null ? undefined : byId.get(row.playlistId)
    if (own?.type !== 'default') return null
    const above = buckets.filter(
      ({ type, isScheduled }) => type !== 'default' || (isScheduled && own.schedule.length === 0)
    )
    const others = playlists.filter(playlist => isPlayable(playlist) && !playlist.options.has('interrupt'))
    const log: LogEntry[] = [{ step: 'slot', at: Math.floor(atMs / 1_000), why: 'window_open' }]
    const decision = pickFrom(slot, others, above, random(), log)
    if (!decision) return null
    const playlist = byId.get(decision.tracks[0].playlistId ?? 0)
    const isRotation = playlist?.type === 'default'
    const waiting = isRotation
      ? undefined
      : left.find(each => each.playlistId === playlist?.id && isFree(each))
    return { decision, row: waiting ?? null, isRotation, why: 'window_open' }
  }

  function isFree(row: QueuedRow): boolean {
    return !row.isSent && !row.isManual && row.batch === null && row.requestId === null && isStillAllowed(row)
  }

  /** Places in the order of play: rows keep theirs unless something comes before them. */
  function positioned(): { insert: NewRow[]; move: MovedRow[] } {
    const insert: NewRow[] = []
    const move: MovedRow[] = []
    const original = new Map(queue.map(row => [row.id, row]))
    let position = queue.reduce((least, row) => Math.min(least, row.position), nextSeq) - 1
    for (const row of placed) {
      if (row.id === null) {
        position++
        const { id: _id, ...rest } = row
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
      if (before && !isSame) move.push(movedRow(before, row, position))
    }
    return { insert, move }
  }

  function movedRow(before: QueuedRow, row: Play & { cuedAtMs: number }, position: number): MovedRow {
    const { id } = before
    const from = Math.floor(before.startsAtMs / 1_000)
    const to = Math.floor(row.startsAtMs / 1_000)
    const why = movedWhy.get(id)
    const log: LogEntry[] = why !== undefined && from !== to ? [{ step: 'moved', from, to, why }] : []
    const { cuedAtMs, startsAtMs, durationMs } = row
    return { id, position, cuedAtMs, startsAtMs, durationMs, log }
  }
}

interface Outranking {
  readonly decision: Decision
  /** A row of the queue that is meant by the same rule and is moved to the front instead. */
  readonly row: QueuedRow | null
  /** Scheduled rotation takes the place of the row, everything else goes in front of it. */
  readonly isRotation: boolean
  readonly why: 'request_inserted' | 'window_open'
}

const lookAheadMs = 32 * 86_400_000

/** When a silent station may have something to play. */
export function nextChance({ playlists, requests, rules, past }: Library, nowMs: number): number | null {
  const times = playlists.filter(isPlayable).flatMap((playlist: Playlist) => {
    const { schedule, type, everyMinutes, id } = playlist
    const openingMs = schedule.length === 0 ? null : nextOpening(rules.zone, schedule, nowMs, lookAheadMs)
    const isByMinutes = type === 'once_per_x_minutes' && everyMinutes > 0
    const last = past.plays.findLast(play => play.playlistId === id) ?? past.older.get(id)
    const afterMs = isByMinutes && last ? last.startsAtMs + everyMinutes * 60_000 : null
    return [openingMs, afterMs, type === 'once_per_hour' ? nowMs + 60_000 : null]
  })
  const all = [...times, ...requests.map(({ dueAtMs }) => dueAtMs)].flatMap(time =>
    time === null ? [] : [time]
  )
  const next = Math.min(...all.map(time => Math.max(time, nowMs + 1_000)))
  return Number.isFinite(next) ? next : null
}
