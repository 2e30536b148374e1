import type { Trigger } from '../model/station/triggers.ts'
import { commitToFrame, fanOutDuration } from '../platform/metrics/push.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { openTimeSlices } from '../platform/runtime/time-slices.ts'
import type { Channel, Subscription } from './session.ts'

/** Delivers a prepared publication to one subscriber. */
export type Deliver = (subscription: Subscription) => void

/** Prepares the publication for a channel's subscribers; null if there is nothing to send. */
export type Prepare = (channel: Channel, triggers: ReadonlySet<Trigger>) => Deliver | null

/** A channel that waits for its delivery. */
interface Job {
  readonly channel: Channel
  readonly triggers: Set<Trigger>
  announcedAt: number
  /** When the oldest change was committed, in Unix milliseconds; null: unknown, or a repetition. */
  changedAtMs: number | null
}

export type FanOut = ReturnType<typeof openFanOut>

/** Length of a time slice; between slices polls and pings are handled. */
const sliceMs = 1

/**
 * Delivers in time slices. The state is taken when a delivery begins, so a channel never has more than one
 * waiting, however fast it changes, and each subscriber gets states in order.
 */
export function openFanOut(prepare: Prepare, onError: (channel: Channel | null, error: unknown) => void) {
  const waiting = new Map<Channel, Job>()
  let current: ReturnType<typeof next> = null
  let announced = 0
  /** The channel of the newest delivery, whose preparation may fail. */
  let preparing: Channel | null = null

  /** Begins the next delivery. */
  function next() {
    for (const job of waiting.values()) {
      waiting.delete(job.channel)
      preparing = job.channel
      const deliver = prepare(job.channel, job.triggers)
      if (deliver !== null)
        return { deliver, job, beganAtMs: performance.now(), rest: job.channel.subscribers.values() }
    }
    return null
  }

  /** Delivers to one subscriber; false if nothing is left. Subscribers that join meanwhile are skipped. */
  function step(): boolean {
    try {
      current ??= next()
      if (current === null) return false
      const { done, value: subscription } = current.rest.next()
      if (done === true) {
        measure(current)
        current = null
      } else if (subscription.joinedAt < current.job.announcedAt) current.deliver(subscription)
    } catch (error) {
      onError(current?.job.channel ?? preparing, error)
    }
    return true
  }

  const slices = openTimeSlices(sliceMs, step)

  return {
    /** The number of the newest announced delivery: a client that joins now has its state. */
    position: () => announced,
    /**
     * Delivers to all subscribers soon. Joined with a delivery of the channel that has not begun. `changedAtMs`: when
     * the change was committed, in Unix milliseconds.
     */
    publish: (channel: Channel, triggers: Iterable<Trigger>, changedAtMs: number | null = null) => {
      announced++
      const job = waiting.get(channel)
      if (job === undefined)
        waiting.set(channel, { channel, triggers: new Set(triggers), announcedAt: announced, changedAtMs })
      else {
        for (const trigger of triggers) job.triggers.add(trigger)
        job.announcedAt = announced
        job.changedAtMs ??= changedAtMs
      }
      slices.wake()
    },
    close: () => {
      slices.close()
      waiting.clear()
    }
  }
}

function measure({
  job: { changedAtMs },
  beganAtMs
}: {
  readonly job: Job
  readonly beganAtMs: number
}): void {
  fanOutDuration.observe((performance.now() - beganAtMs) / 1_000)
  if (changedAtMs !== null) commitToFrame.observe(Math.max(0, engineTimeMs() - changedAtMs) / 1_000)
}
