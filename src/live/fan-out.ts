import type { Trigger } from '../station/triggers.ts'
import type { Channel } from './channels.ts'
import type { Subscription } from './session.ts'

/** Makes what a channel's subscribers get now, and gives the function that delivers it to one. */
export type Prepare = (
  channel: string,
  triggers: readonly Trigger[]
) => ((subscription: Subscription) => void) | null

export interface FanOut {
  /** Delivers to all subscribers of `channel` soon; what has not begun yet is joined with it. */
  readonly publish: (channel: Channel, triggers: readonly Trigger[]) => void
  /** The number of the newest announced delivery: who joins now has seen all up to it. */
  readonly position: () => number
  readonly close: () => void
}

interface Job {
  readonly channel: Channel
  readonly triggers: Set<Trigger>
  announcedAt: number
}

/** So many deliveries at once take about 2.5 ms; polls and pings get their turn in between. */
const slice = 500

/**
 * Deliveries in slices, one per turn of the event loop. The state is taken when a delivery begins, so a channel
 * never has more than one waiting, however fast it changes, and each subscriber gets states in their order.
 */
export function openFanOut(prepare: Prepare, onError: (error: unknown) => void): FanOut {
  const waiting = new Map<Channel, Job>()
  let running: Iterator<() => void> | null = null
  let announced = 0
  let isScheduled = false
  let isClosed = false

  /** One step per delivery. A Set may be changed while it is walked through: who joins meanwhile is skipped. */
  function* deliveriesOf(job: Job): Iterator<() => void> {
    const deliver = prepare(job.channel.name, [...job.triggers])
    if (deliver === null) return
    for (const subscription of job.channel.subscribers)
      if (subscription.joinedAt < job.announcedAt) yield () => deliver(subscription)
  }

  function next(): Iterator<() => void> | null {
    const [job] = waiting.values()
    if (job === undefined) return null
    waiting.delete(job.channel)
    return deliveriesOf(job)
  }

  function step(): boolean {
    running ??= next()
    if (running === null) return false
    const { done, value } = running.next()
    if (done === true) running = null
    else value()
    return true
  }

  function runSlice(): void {
    isScheduled = false
    if (isClosed) return
    for (let count = 0; count < slice; count++) {
      try {
        if (!step()) return
      } catch (error) {
        onError(error)
      }
    }
    schedule()
  }

  function schedule(): void {
    if (isScheduled || isClosed) return
    isScheduled = true
    setImmediate(runSlice)
  }

  return {
    position: () => announced,
    publish: (channel, triggers) => {
      announced++
      const job = waiting.get(channel)
      if (job === undefined)
        waiting.set(channel, { channel, triggers: new Set(triggers), announcedAt: announced })
      else {
        for (const trigger of triggers) job.triggers.add(trigger)
        job.announcedAt = announced
      }
      schedule()
    },
    close: () => {
      isClosed = true
      waiting.clear()
    }
  }
}
