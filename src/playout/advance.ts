import { refill } from '../autodj/refill.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import type { StationState } from '../station/state.ts'
import { bridge } from './bridge.ts'
import { holdInTime } from './future.ts'
import { librariesOf } from './libraries.ts'
import { nowPlayingLine } from './now-playing-line.ts'
import { endPass } from './passes.ts'
import { planStatements } from './plan-statements.ts'
import { endPlay, goSilent, startQueued } from './plays.ts'
import { publishEventually } from './publish.ts'
import { refillHeld } from './queue.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import type { LockedStation } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { tellHooks } from './tell-hooks.ts'

/**
 * `due`: the play has reached its end. `skip`: an operator ends it now, whatever it is. `wake`: nothing plays, and
 * there may be something to play.
 */
export type Cause = 'due' | 'skip' | 'wake'

export interface AdvanceRequest {
  readonly stationId: number
  /** The play to end, 0 for `wake`; with `skip` null means whichever is on. */
  readonly endedShId: number | null
  readonly cause: Cause
}

/**
 * `stepped`: this call ended the play. `postponed`: it looks again later. `overtaken`: another play is on by now. `not-due`: its
 * end has moved to later. `idle`: nothing plays and nothing is to be played. `gone`: no such station.
 */
export type Outcome = 'stepped' | 'postponed' | 'overtaken' | 'not-due' | 'idle' | 'gone'

/** Later than this, the engine starts from now instead of catching up with what nobody heard. */
const catchUpMs = 5_000

/** Two machines' clocks may differ by this much before a step counts as too early. */
const toleranceMs = 20

/**
 * Ends a play and starts the next: one Postgres transaction, then the live state. Safe to repeat at any time and on
 * any number of machines; whoever comes second finds the work done and only makes sure that it shows. `note` is part of
 * the transaction of a step that ended the play.
 */
export async function advance(
  services: PlayoutServices,
  request: AdvanceRequest,
  note: (tx: Tx) => Promise<void> = async () => {}
): Promise<Advanced> {
  const { outcome, told, earlyByMs } = await step(services.sql, request, note)
  if (outcome === 'gone' || outcome === 'idle' || outcome === 'not-due')
    return { outcome, state: null, earlyByMs }
  const state = await publishEventually(services, request.stationId)
  await tellHooks(services, told)
  if (outcome === 'stepped' && state) services.log.info(...nowPlayingLine(state))
  return { outcome, state, earlyByMs }
}

export interface Advanced {
  readonly outcome: Outcome
  readonly state: StationState | null
  /** How long it is until the play is due, by the time of Postgres; 0 unless the outcome is `not-due`. */
  readonly earlyByMs: number
}

function step(sql: Sql, request: AdvanceRequest, note: (tx: Tx) => Promise<void>): Promise<Stepped> {
  const { stationId, endedShId, cause } = request
  return beginForStation(sql, stationId, async tx => {
    const held = await holdInTime(tx, stationId, librariesOf(sql))
    if (!held) return unmoved('gone')
    const { station, play, queue, library, isPulledBack } = held
    const nowMs = station.readAtMs
    if (endedShId !== null && (play?.id ?? 0) !== endedShId) return unmoved('overtaken')
    if (cause === 'skip' && !play) return unmoved('idle')
    const dueAtMs = play?.dueAtMs ?? nowMs
    if (cause === 'due' && nowMs < dueAtMs - toleranceMs)
      return isPulledBack ? unmoved('postponed') : { ...unmoved('not-due'), earlyByMs: dueAtMs - nowMs }
    const boundaryMs = cause === 'due' && nowMs - dueAtMs <= catchUpMs ? dueAtMs : nowMs
    const startMs = Math.max(boundaryMs, play?.startedAtMs ?? 0)
    const before = observedBefore(station, play)
    if (!station.isClocked) {
      if (!play) return unmoved('idle')
      const bridged = await bridge(tx, { ...held, play }, nowMs)
      await refillHeld(tx, stationId, nowMs, librariesOf(sql))
      await note(tx)
      const told = await raiseTriggers(tx, station, before, startMs)
      return { outcome: bridged === 'ended' ? 'stepped' : 'postponed', told, earlyByMs: 0 }
    }
    const plan = refill({
      library,
      running: {
        startedAtMs: play?.startedAtMs ?? startMs,
        endsAtMs: startMs,
        playlistId: null,
        isInterrupt: true
      },
      nowMs: startMs,
      queue,
      queueLength: station.queueLength + 1,
      rejected: new Set(),
      nextSeq: station.nextSeq
    })
    const { first, wakeAtMs } = plan
    if (!first && !play) {
      await noteSilence(tx, station, wakeAtMs)
      return unmoved('idle')
    }
    // Sent in this order, without waiting in between.
    await Promise.all([
      ...(play ? [endPlay(tx, station, play, first ? startMs : Math.min(startMs, dueAtMs))] : []),
      ...planStatements(tx, [{ stationId, plan }]),
      ...(first
        ? [
            startQueued(
              tx,
              station,
              first,
              { atMs: startMs, dueAtMs: Math.round(first.endsAtMs) },
              plan.insert.length
            ),
            ...endPass(tx, library, first)
          ]
        : [goSilent(tx, station, wakeAtMs)])
    ])
    await note(tx)
    return { outcome: 'stepped', told: await raiseTriggers(tx, station, before, startMs), earlyByMs: 0 }
  })
}

interface Stepped {
  readonly outcome: Outcome
  /** The web hooks that are to be told of it. */
  readonly told: readonly number[]
  readonly earlyByMs: number
}

const unmoved = (outcome: Outcome): Stepped => ({ outcome, told: [], earlyByMs: 0 })

function noteSilence(tx: Tx, { id, libraryVersion }: LockedStation, wakeAtMs: number | null) {
  return tx`update stations set wake_at_ms = ${wakeAtMs}, wake_version = ${libraryVersion} where id = ${id}`
}
