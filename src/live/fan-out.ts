import type { Trigger } from '../model/station/triggers.ts'
import { commitToFrameMetric, fanOutDurationMetric } from '../platform/metrics/push.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { openTimeSlices } from '../platform/runtime/time-slices.ts'
import { type Channels, delayPublication } from './channels.ts'
import type { Feed } from './feed/feed.ts'
import type { LiveStation } from './feed/live-station.ts'
import { stationChannelName, timeChannel } from './protocol.ts'
import type { Publications } from './publications.ts'
import type { Channel, Subscription } from './session.ts'

/** Delivers a prepared publication to one subscriber. */
export type DeliverPublication = (subscription: Subscription) => void

/** Prepares the publication for a channel's subscribers; null if there is nothing to send. */
export type PreparePublication = (
  channel: Channel,
  triggers: ReadonlySet<Trigger>
) => DeliverPublication | null

/** A channel that waits for its delivery. */
interface Job {
  readonly channel: Channel
  readonly triggers: Set<Trigger>
  announcedAt: number
  /** When the oldest change was committed, in Unix milliseconds; null: unknown, or a repetition. */
  changedAtMs: number | null
}

export interface FanOutOptions {
  readonly feed: Pick<Feed, 'onChange' | 'onRemoved' | 'namesOf'>
  readonly channels: Pick<Channels, 'named'>
  readonly publications: Pick<Publications, 'find'>
  readonly prepare: PreparePublication
  /** Called with the channel whose publication fails. */
  readonly onError: (channel: Channel | null, error: unknown) => void
  /** After this time, what a channel shows is published again; a channel may have its own interval. */
  readonly heartbeatMs: number
}

export type FanOut = ReturnType<typeof openFanOut>

/** Length of a time slice; between slices polls and pings are handled. */
const sliceMs = 1

/**
 * Publishes the changes of the feed to the channels that show them. Delivers in time slices. The state is taken when a
 * delivery begins, so a channel never has more than one waiting, however fast it changes, and each subscriber gets
 * states in order.
 */
export function openFanOut(options: FanOutOptions) {
  const { feed, channels, publications, prepare, onError, heartbeatMs } = options
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

  /**
   * A private station is repeated at the usual interval, because permissions are checked at each publication. The
   * channel of the time has no state to repeat.
   */
  function heartbeatIntervalMs(channel: Channel): number {
    if (channel.name === timeChannel) return Infinity
    const station = channel.heartbeatMs === 0 ? undefined : publications.find(channel)
    return station?.isPublic ? channel.heartbeatMs : heartbeatMs
  }

  /**
   * Delivers to all subscribers soon, and sets when the channel is due to be repeated if nothing else is published.
   * Joined with a delivery of the channel that has not begun. `changedAtMs`: when the change was committed, in Unix
   * milliseconds.
   */
  function publish(channel: Channel, triggers: Iterable<Trigger>, changedAtMs: number | null = null): void {
    channel.dueAtMs = performance.now() + heartbeatIntervalMs(channel)
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
  }

  const unsubscribe = [
    feed.onChange((station, triggers) => {
      for (const name of feed.namesOf(station)) {
        for (const channel of channels.named(stationChannelName(name))) {
          const isShown =
            channel.delayMs === 0 || delayPublication(channel, station, triggers, engineTimeMs())
          if (isShown) publish(channel, triggers, committedAtMs(channel, station))
        }
      }
    }),
    feed.onRemoved(idOrName => {
      for (const channel of channels.named(stationChannelName(idOrName))) publish(channel, [])
    })
  ]

  return {
    /** The number of the newest announced delivery: a client that joins now has its state. */
    position: () => announced,
    publish,
    /** Sets the first repetition of a new channel to a random time, so that channels spread out. */
    schedule: (channel: Channel) => {
      channel.dueAtMs = performance.now() + heartbeatIntervalMs(channel) * (0.5 + Math.random() / 2)
    },
    close: () => {
      for (const stop of unsubscribe) stop()
      slices.close()
      waiting.clear()
    }
  }
}

/**
 * When a change that a channel is about to show was committed: a revision is a time. Null for new counts, which
 * are not committed, for a delayed channel and for its first publication.
 */
function committedAtMs(channel: Channel, { revision }: LiveStation): number | null {
  const { revision: before, delayMs } = channel
  channel.revision = revision
  return before === 0 || before === revision || delayMs > 0 ? null : revision
}

function measure({
  job: { changedAtMs },
  beganAtMs
}: {
  readonly job: Job
  readonly beganAtMs: number
}): void {
  fanOutDurationMetric.observe((performance.now() - beganAtMs) / 1_000)
  if (changedAtMs !== null) commitToFrameMetric.observe(Math.max(0, engineTimeMs() - changedAtMs) / 1_000)
}
