import { engineTimeMs } from '../runtime/engine-time.ts'
import type { Logger } from '../runtime/log.ts'
import type { Trigger } from '../station/triggers.ts'
import type { Channel } from './channels.ts'
import { renderPatch } from './deltas.ts'
import type { Deliver, Prepare } from './fan-out.ts'
import type { Feed } from './feed/feed.ts'
import type { LiveStation } from './feed/live-station.ts'
import { type Frame, openFrame, renderDelta, renderPub, renderTimeFrame, type Snapshot } from './frames.ts'
import type { Permissions } from './permissions.ts'
import { type DisconnectReason, stationOfChannel, timeChannel } from './protocol.ts'
import { sendFrame, type Session, type Subscription } from './session.ts'

/** A client with more unread bytes gets nothing new until it has read; far above this it is disconnected. */
const behindBytes = 64 * 1024
const slowBytes = 1024 * 1024

/** Number of former states for which a delta is rendered. */
const basesAtMost = 4

/**
 * A song that lasts this much longer than planned shows that the engine does not run: the sweep would have
 * ended it.
 */
const overdueMs = 15_000

export interface DeliveryOptions {
  readonly feed: Feed
  readonly permissions: Permissions
  /** How long a client may stay behind. */
  readonly slowMs: number
  readonly log: Logger
  readonly end: (session: Session, ending: DisconnectReason) => void
}

/** Sends publications to sessions, and holds them back from slow readers. */
export interface Deliveries {
  readonly prepare: Prepare
  /** A station's state for the frames, true at this second. */
  readonly snapshotOf: (station: LiveStation) => Snapshot
  /** The state of a channel, if it has one and the client may know of it: public, or among `allowed`. */
  readonly visible: (channel: Channel, allowed: ReadonlySet<number>) => LiveStation | null
  /** Sends one subscription what its channel has now, without triggers. */
  readonly give: (subscription: Subscription, allowed: ReadonlySet<number>) => void
  /** Sends what can be missed: nothing, if the client is behind. */
  readonly sendIfQuiet: (session: Session, frame: Frame) => void
  /** Watches a session that may have fallen behind. */
  readonly noteBehind: (session: Session) => void
  /** Sends what was held back, the newest state of each channel, as long as the client takes it. */
  readonly release: (session: Session) => void
  /** Does that for all that are behind, and ends those that stay behind. */
  readonly checkBehind: (nowMs: number) => void
  readonly forget: (session: Session) => void
}

export function openDeliveries({ feed, permissions, slowMs, log, end }: DeliveryOptions): Deliveries {
  const behind = new Set<Session>()

  /** The station that a channel shows, if it exists. */
  function find({ name, shown }: Channel): LiveStation | undefined {
    const newest = feed.find(stationOfChannel(name) ?? '')
    return newest === undefined ? undefined : (shown ?? newest)
  }

  function visible(channel: Channel, allowed: ReadonlySet<number>): LiveStation | null {
    const station = find(channel)
    return station !== undefined && mayBeSeen(station, allowed) ? station : null
  }

  /** A station that becomes private is hidden at once, whatever a delayed channel shows. */
  function mayBeSeen({ state }: LiveStation, allowed: ReadonlySet<number>): boolean {
    return isPublic(state.stationId) || allowed.has(state.stationId)
  }

  const isPublic = (stationId: number) => feed.get(stationId)?.state.profile.isPublic ?? false

  const prepare: Prepare = (channel, triggers) => {
    if (channel.name === timeChannel) {
      const frame = openFrame(renderTimeFrame(nowInSeconds()))
      return ({ session }) => sendIfQuiet(session, frame)
    }
    const station = find(channel)
    if (station === undefined) return tellGone
    const { stationId } = station.state
    if (!isPublic(stationId)) return subscription => deliverPrivate(subscription, stationId, triggers)
    return delivering(channel, station, triggers)
  }

  /** The delivery of one state. Frames are rendered when they are first needed. */
  function delivering(channel: Channel, station: LiveStation, triggers: ReadonlySet<Trigger>): Deliver {
    const { epoch, offset } = station.state
    const nowSeconds = nowInSeconds()
    const isDoubtful = staleSince(station) !== null
    let whole: Frame | null = null
    const differences = new Map<LiveStation, Frame>()

    const wholeFrame = () => (whole ??= wholeFrameOf(channel, station, nowSeconds, triggers))

    /** Most clients have the same state; for an older one the whole publication is sent. */
    function frameFor(base: LiveStation | null): Frame {
      if (base === null) return wholeFrame()
      const known = differences.get(base)
      if (known !== undefined) return known
      if (differences.size === basesAtMost) return wholeFrame()
      const patch = renderPatch(base, station, nowSeconds)
      const frame =
        patch === null
          ? wholeFrame()
          : shorter(
              openFrame(renderDelta(channel.name, { patch, nowSeconds, offset }, triggers)),
              wholeFrame()
            )
      differences.set(base, frame)
      return frame
    }

    return subscription => {
      const { session } = subscription
      if (session.phase === 'ended') return
      if (subscription.epoch !== epoch) {
        // A publication names no epoch, so a client can only learn a new one by connecting again.
        if (subscription.epoch !== '') return end(session, 'insufficientState')
        subscription.epoch = epoch
      } else if (offset < subscription.offset) return
      if (!session.isClear && isHeldBack(subscription)) return hold(subscription, triggers)
      subscription.offset = offset
      if (subscription.isDelta) {
        // That a state may be old is said with the whole of it, and so is that it is not any more.
        sendFrame(session, frameFor(isDoubtful ? null : subscription.base))
        subscription.base = isDoubtful ? null : station
      } else sendFrame(session, wholeFrame())
    }
  }

  /**
   * Disconnects a client whose station is gone or no longer visible to it; it learns the rest when it
   * connects again.
   */
  function tellGone({ session, epoch }: Subscription): void {
    if (epoch !== '' && session.phase !== 'ended') end(session, 'insufficientState')
  }

  /** Checks the permission each time, so that a revoked key ends the subscription. */
  function deliverPrivate(
    subscription: Subscription,
    stationId: number,
    triggers: ReadonlySet<Trigger>
  ): void {
    const { session, channel } = subscription
    if (session.key === '') return tellGone(subscription)
    permissions
      .among(session.key, [stationId])
      .then(allowed => {
        if (!session.subscriptions.includes(subscription)) return
        const station = visible(channel, allowed)
        if (station === null) tellGone(subscription)
        else delivering(channel, station, triggers)(subscription)
      })
      .catch((error: unknown) => log.error({ err: error, station: stationId }, 'a delivery failed'))
  }

  function hold(subscription: Subscription, triggers: ReadonlySet<Trigger>): void {
    const { session } = subscription
    if (triggers.size > 0) subscription.missed = new Set([...(subscription.missed ?? []), ...triggers])
    subscription.base = null
    session.held ??= new Set()
    session.held.add(subscription)
    noteBehind(session)
  }

  function noteBehind(session: Session): void {
    if (session.held === null && !isBehind(session)) return
    if (session.slowSinceMs === 0) session.slowSinceMs = performance.now()
    behind.add(session)
  }

  function release(session: Session): void {
    if (session.held === null) return
    session.transport.cork(() => {
      for (const subscription of session.held ?? []) {
        if (isBehind(session)) return
        const triggers = subscription.missed ?? none
        session.held?.delete(subscription)
        subscription.missed = null
        prepare(subscription.channel, triggers)?.(subscription)
      }
      if (session.held?.size === 0) session.held = null
    })
  }

  function check(session: Session, nowMs: number): void {
    release(session)
    if (session.phase === 'ended') return
    if (session.held === null && !isBehind(session)) {
      session.slowSinceMs = 0
      behind.delete(session)
    } else if (session.transport.waitingBytes() > slowBytes || nowMs - session.slowSinceMs > slowMs) {
      end(session, 'slow')
    }
  }

  /**
   * Since when, in Unix seconds, a state may be out of date: Redis is unavailable, or a song that is over was
   * not ended. Null if it is current.
   */
  function staleSince({ state: { stationId } }: LiveStation): number | null {
    if (!feed.isCurrent()) return Math.floor(feed.health().checkedAtMs / 1_000)
    const dueAtMs = feed.get(stationId)?.state.current?.dueAtMs ?? Infinity
    return engineTimeMs() < dueAtMs + overdueMs ? null : Math.floor(dueAtMs / 1_000)
  }

  /** The whole publication of a state; without triggers the one that was rendered this second. */
  function wholeFrameOf(
    channel: Channel,
    station: LiveStation,
    nowSeconds: number,
    triggers: ReadonlySet<Trigger>
  ): Frame {
    const { repeated } = channel
    const isRepetition = triggers.size === 0
    if (isRepetition && repeated?.station === station && repeated.nowSeconds === nowSeconds)
      return repeated.frame
    const frame = openFrame(renderPub(channel.name, snapshotAt(station, nowSeconds), triggers))
    if (isRepetition) channel.repeated = { station, nowSeconds, frame }
    return frame
  }

  function snapshotAt(station: LiveStation, nowSeconds: number): Snapshot {
    const { epoch, offset } = station.state
    const document = station.eventText(nowSeconds)
    return { epoch, offset, document, nowSeconds, staleSince: staleSince(station) }
  }

  return {
    prepare,
    snapshotOf: station => snapshotAt(station, nowInSeconds()),
    visible,
    sendIfQuiet,
    noteBehind,
    release,
    give: (subscription, allowed) => {
      const { channel, session } = subscription
      if (channel.name === timeChannel)
        return sendIfQuiet(session, openFrame(renderTimeFrame(nowInSeconds())))
      const station = visible(channel, allowed)
      if (station !== null) delivering(channel, station, none)(subscription)
    },
    checkBehind: nowMs => {
      for (const session of behind) check(session, nowMs)
    },
    forget: session => void behind.delete(session)
  }
}

const none: ReadonlySet<Trigger> = new Set()

const isBehind = ({ isClear, transport }: Session) => !isClear && transport.waitingBytes() > behindBytes

/** Whether a client that has not read everything gets nothing now. */
function isHeldBack(subscription: Subscription): boolean {
  const { session } = subscription
  if (session.held?.has(subscription) === true) return true
  const waitingBytes = session.transport.waitingBytes()
  if (waitingBytes === 0 && session.held === null) session.isClear = true
  return waitingBytes > behindBytes
}

function sendIfQuiet(session: Session, frame: Frame): void {
  if (!isBehind(session)) sendFrame(session, frame)
}

const shorter = (one: Frame, other: Frame) => (one.bytes.length < other.bytes.length ? one : other)

const nowInSeconds = () => Math.floor(engineTimeMs() / 1000)
