import {
  trimPast,
  extendPast,
  type CachedPast,
  toLibraryPast,
  lookBackMs,
  type PastPlay
} from '../../../src/engine/queue/library-past.ts'
import { nextStartMs } from '../../../src/model/autodj/durations.ts'
import {
  type PlayOrRow,
  trackCountsInPass,
  type AutodjLibrary,
  type PendingRequest,
  type Playlist,
  type RemovedRow,
  requestTtlMs
} from '../../../src/model/autodj/library.ts'
import type { DecisionLogEntry } from '../../../src/model/autodj/log-entry.ts'
import type { PlannerInput, QueuedRow } from '../../../src/model/autodj/queue-draft.ts'
import { planQueue, type QueuePlan } from '../../../src/model/autodj/queue-planner.ts'
import { applyQueuePlan } from '../../../src/model/autodj/simulate.ts'
import { forkTrackColumns, findTrackIndex, markTrackAired } from '../../../src/model/autodj/track-columns.ts'

/** A play, up to its end or interrupt. */
export interface Heard extends PlayOrRow {
  readonly untilMs: number
  readonly log: readonly DecisionLogEntry[]
  readonly isManual: boolean
  readonly isSent: boolean
  readonly batch: number | null
}

export type RequestState = 'pending' | 'queued' | 'aired' | 'cancelled' | 'expired'

export interface KnownRequest extends PendingRequest {
  state: RequestState
}

/** Called with every input of the planner and its plan. */
export type Observer = (situation: PlannerInput, plan: QueuePlan) => void

const catchUpMs = 5_000

/** A station that is advanced in memory as by the engine. Its playlists are copies. */
export function aStation(
  start: AutodjLibrary,
  nowStartMs: number,
  queueLength = 3,
  observe: Observer = () => {}
) {
  let library: AutodjLibrary = {
    ...start,
    playlists: start.playlists.map(playlist => ({ ...playlist, tracks: forkTrackColumns(playlist.tracks) }))
  }
  const before = start.past.plays.map((play, index) => ({ ...play, stationId: 1, id: index + 1 }))
  const kept: CachedPast = { plays: [...before], older: new Map() }
  let removed: RemovedRow[] = []
  const requests: KnownRequest[] = start.requests.map(request => ({ ...request, state: 'pending' }))
  let queue: QueuedRow[] = []
  const logs = new Map<number, readonly DecisionLogEntry[]>()
  const heard: Heard[] = []
  const everything: PastPlay[] = [...before]
  let on: { play: Heard; naturalMs: number; dueMs: number } | null = null
  let wakeAtMs: number | null = nowStartMs
  let nowMs = nowStartMs
  let nextSeq = 1
  let playId = before.length
  let length = queueLength

  function seen(): AutodjLibrary {
    trimPast(kept, nowMs - lookBackMs(library.rules, library.playlists))
    const waiting = requests.filter(({ state }) => state === 'pending' || state === 'queued')
    return { ...library, past: toLibraryPast(kept, removed), requests: waiting }
  }

  function plan(
    running: PlannerInput['running'],
    rowsWanted: number,
    rejected: ReadonlySet<number>
  ): QueuePlan {
    for (const request of requests)
      if (request.state === 'pending' && request.dueAtMs <= nowMs - requestTtlMs) request.state = 'expired'
    const situation: PlannerInput = {
      library: seen(),
      running,
      nowMs,
      queue,
      queueLength: rowsWanted,
      rejected,
      nextSeq
    }
    const planned = planQueue(situation)
    observe(situation, planned)
    const withdrawn = new Set(planned.withdraw)
    for (const { id, requestId } of queue) if (withdrawn.has(id)) setState(requestId, 'pending')
    for (const { requestId } of planned.insert) setState(requestId, 'queued')
    for (const row of planned.insert) logs.set(-row.seq, row.log)
    queue = applyQueuePlan(queue, planned)
    nextSeq += planned.insert.length
    return planned
  }

  function setState(requestId: number | null, state: RequestState): void {
    const request = requests.find(({ id }) => id === requestId)
    if (request) request.state = state
  }

  /** Plans the queue, as after any change. */
  function top(rejected: ReadonlySet<number> = new Set()): void {
    const running = on
      ? {
          startedAtMs: on.play.startsAtMs,
          endsAtMs: Math.max(nowMs, on.naturalMs),
          playlistId: on.play.playlistId,
          isInterrupt: on.play.isInterrupt
        }
      : { startedAtMs: nowMs, endsAtMs: nowMs, playlistId: null, isInterrupt: false }
    const planned = plan(running, length, rejected)
    if (on) on.dueMs = planned.runningEndsMs
    else if (queue.length > 0) wakeAtMs = nowMs
  }

  function step(): void {
    const planned = plan(
      {
        startedAtMs: on?.play.startsAtMs ?? nowMs,
        endsAtMs: nowMs,
        playlistId: null,
        isInterrupt: true
      },
      length + 1,
      new Set()
    )
    if (on) heard.push({ ...on.play, untilMs: nowMs })
    on = null
    const { first } = planned
    if (!first) {
      wakeAtMs = planned.wakeAtMs
      return
    }
    const id = first.id ?? -(first.seq ?? 0)
    const row = queue.find(each => each.id === id)
    if (!row) throw new Error('the first row of a plan is not in the queue')
    queue = queue.filter(each => each !== row)
    const play: PastPlay = { ...row, stationId: 1, id: ++playId, startsAtMs: nowMs }
    extendPast(kept, library.playlists, [play])
    everything.push(play)
    endPass(row)
    setState(row.requestId, 'aired')
    const naturalMs = nextStartMs(nowMs, row.durationMs, library.rules.overlapMs)
    on = {
      play: { ...row, startsAtMs: nowMs, untilMs: 0, log: logs.get(id) ?? [] },
      naturalMs,
      dueMs: first.endsAtMs
    }
  }

  function endPass({ playlistId, pass }: PlayOrRow): void {
    changePlaylist(playlistId ?? 0, playlist =>
      pass > playlist.pass &&
      playlist.tracks.lastPass.every((each, index) => each >= pass - 1 || !trackCountsInPass(playlist, index))
        ? { ...playlist, pass }
        : playlist
    )
  }

  function changePlaylist(id: number, change: (playlist: Playlist) => Playlist): void {
    const playlists = library.playlists.map(playlist => (playlist.id === id ? change(playlist) : playlist))
    library = { ...library, playlists }
  }

  return {
    get nowMs() {
      return nowMs
    },
    get library() {
      return seen()
    },
    get queue(): readonly QueuedRow[] {
      return queue
    },
    get on() {
      return on
    },
    get requests(): readonly KnownRequest[] {
      return requests
    },
    /** All plays until now, including the current one. */
    get heard(): readonly Heard[] {
      return on ? [...heard, { ...on.play, untilMs: nowMs }] : heard
    },
    /** Advances the time and all plays that end until then. */
    runTo(untilMs: number): void {
      for (;;) {
        const dueMs = on ? on.dueMs : wakeAtMs
        if (dueMs === null || dueMs > untilMs) break
        nowMs = Math.max(nowMs, dueMs)
        wakeAtMs = null
        step()
      }
      nowMs = Math.max(nowMs, untilMs)
    },
    /** Advances the time while the engine is down, so that it continues late. */
    pauseTo(untilMs: number): void {
      const dueMs = on ? on.dueMs : wakeAtMs
      nowMs = Math.max(nowMs, untilMs)
      if (dueMs !== null && dueMs <= nowMs) {
        if (nowMs - dueMs <= catchUpMs) nowMs = dueMs
        wakeAtMs = null
        step()
      }
    },
    skip(): void {
      if (on && nowMs > on.play.startsAtMs) step()
    },
    top,
    /** Removes a row as an operator does. */
    refuse(index: number): void {
      const row = queue[index]
      if (!row || row.isSent) return
      queue = queue.filter(each => each !== row)
      setState(row.requestId, 'cancelled')
      const playlist = library.playlists.find(({ id }) => id === row.playlistId)
      if (playlist?.order === 'sequential' && row.trackId !== null)
        markTrackAired(playlist.tracks, findTrackIndex(playlist.tracks, row.trackId), row.pass, 0)
      removed = [row, ...removed]
      top(new Set(row.trackId === null ? [] : [row.trackId]))
    },
    /** Removes rows without marking them as removed. */
    withdraw(isGone: (row: QueuedRow, index: number) => boolean): void {
      const gone = queue.filter((row, index) => !row.isSent && isGone(row, index))
      for (const { requestId } of gone) setState(requestId, 'pending')
      queue = queue.filter(row => !gone.includes(row))
      top()
    },
    /** Adds a manual song after the other manual songs, as an operator does. */
    add(play: PlayOrRow): void {
      const sent = queue.findLastIndex(row => row.isSent || row.isManual) + 1
      const first = queue.reduce((least, { position }) => Math.min(least, position), nextSeq)
      const row: QueuedRow = {
        ...play,
        id: -nextSeq,
        position: 0,
        cuedAtMs: nowMs,
        startsAtMs: nowMs,
        isSent: false,
        isManual: true,
        batch: null
      }
      nextSeq++
      queue = queue.toSpliced(sent, 0, row).map((each, index) => ({ ...each, position: first + index }))
      top()
    },
    /** Sends the first row to a playout. */
    send(): void {
      const [first] = queue.filter(row => !row.isSent)
      queue = queue.map(row => (row === first ? { ...row, isSent: true, cuedAtMs: nowMs } : row))
      top()
    },
    request(request: PendingRequest): void {
      const isKnown = requests.some(
        ({ mediaId, state }) => mediaId === request.mediaId && (state === 'pending' || state === 'queued')
      )
      if (isKnown) return
      requests.push({ ...request, state: 'pending' })
      top()
    },
    cancel(requestId: number): void {
      const request = requests.find(({ id }) => id === requestId)
      if (!request || (request.state !== 'pending' && request.state !== 'queued')) return
      if (queue.some(row => row.requestId === requestId && row.isSent)) return
      request.state = 'cancelled'
      queue = queue.filter(row => row.requestId !== requestId)
      top()
    },
    change(id: number, change: (playlist: Playlist) => Playlist): void {
      changePlaylist(id, change)
      top()
    },
    resize(rows: number): void {
      length = rows
      top()
    },
    /** Reads the past again, as a restarted process does. */
    restart(): void {
      const song = everything.findLast(({ isVisible }) => isVisible)
      const lookBackFromMs = nowMs - lookBackMs(library.rules, library.playlists)
      const fromMs = Math.min(lookBackFromMs, song?.startsAtMs ?? Infinity)
      kept.plays = everything.filter(play => play.startsAtMs >= fromMs)
      const older = everything.filter(play => play.startsAtMs < fromMs)
      kept.older.clear()
      for (const { id, type } of library.playlists) {
        const last = everything.findLastIndex(play => play.playlistId === id)
        const play = older[last]
        if (play && (type === 'once_per_x_songs' || type === 'once_per_x_minutes'))
          kept.older.set(id, {
            startsAtMs: play.startsAtMs,
            visibleAfter: older.slice(last + 1).filter(each => each.isVisible).length
          })
      }
      top()
    }
  }
}

export type TestStation = ReturnType<typeof aStation>
