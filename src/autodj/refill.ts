import { airtimeMs, estimate, type Running } from './estimate.ts'
import type { Ahead, Library } from './library.ts'
import { type Decision, pick } from './pick.ts'
import { randomOf } from './random.ts'

/** A row of the queue that has not been played. */
export interface QueuedRow {
  readonly id: number
  readonly songId: string
  readonly trackId: number | null
  readonly pass: number
  readonly durationMs: number
  readonly cuedAtMs: number
  readonly playsAtMs: number
}

export interface NewRow extends Decision {
  readonly seq: number
  readonly cuedAtMs: number
  readonly playsAtMs: number
}

/** What has to change in the queue: rows to add at its end, and rows whose expected times moved. */
export interface Plan {
  readonly insert: readonly NewRow[]
  readonly retime: readonly { readonly id: number; readonly cuedAtMs: number; readonly playsAtMs: number }[]
}

export interface Situation {
  readonly library: Library
  readonly running: Running
  /** The song on air, null after silence. */
  readonly songOnAir: string | null
  /** In playing order. */
  readonly queue: readonly QueuedRow[]
  readonly queueLength: number
  /** Tracks an operator has just removed. */
  readonly rejected: ReadonlySet<number>
  readonly seed: number
  readonly nextSeq: number
}

const horizonMs = 6 * 3_600_000

/**
 * Tops the queue up to its length (not beyond six hours ahead) and corrects expected times. Deterministic: applied
 * twice, or computed on two machines, the queue ends up the same.
 */
export function refill(situation: Situation): Plan {
  const { library, running, songOnAir, queue, queueLength, rejected, seed, nextSeq } = situation
  const ahead: Ahead[] = queue.map(({ songId, trackId, pass }) => ({ songId, trackId, pass }))
  if (songOnAir !== null) ahead.unshift({ songId: songOnAir, trackId: null, pass: 0 })
  const durations = queue.map(row => row.durationMs)
  const picked: Decision[] = []
  let endMs = durations.reduce((atMs, durationMs) => atMs + airtimeMs(durationMs), running.endsAtMs)
  while (queue.length + picked.length < queueLength && endMs < running.endsAtMs + horizonMs) {
    const decision = pick(library, ahead, rejected, endMs, randomOf(seed, nextSeq + picked.length))
    if (!decision) break
    const { songId, trackId, pass, durationMs } = decision.track
    picked.push(decision)
    ahead.push({ songId, trackId, pass })
    durations.push(durationMs)
    endMs += airtimeMs(durationMs)
  }
  const times = estimate(running, durations)
  return {
    insert: picked.flatMap((decision, index) => {
      const timing = times[queue.length + index]
      return timing ? [{ ...decision, ...timing, seq: nextSeq + index }] : []
    }),
    retime: queue.flatMap((row, index) => {
      const timing = times[index]
      const isRight = timing?.cuedAtMs === row.cuedAtMs && timing.playsAtMs === row.playsAtMs
      return timing && !isRight ? [{ id: row.id, ...timing }] : []
    })
  }
}
