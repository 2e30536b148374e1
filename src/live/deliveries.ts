import type { Logger } from '../log.ts'
import type { Trigger } from '../station/triggers.ts'
import type { Prepare } from './fan-out.ts'
import type { Feed } from './feed.ts'
import { renderPub, renderTime, type Snapshot } from './frames.ts'
import type { LiveStation } from './live-station.ts'
import type { Permissions } from './permissions.ts'
import { type Ending, stationOf, timeChannel } from './protocol.ts'
import type { Session, Subscription } from './session.ts'

/** Above this a client gets nothing new until it has read; far above it, it is cut off. */
const behindBytes = 64 * 1024
const slowBytes = 1024 * 1024

export interface DeliveryOptions {
  readonly feed: Feed
  readonly permissions: Permissions
  /** How long a client may stay behind. */
  readonly slowMs: number
  readonly log: Logger
  readonly end: (session: Session, ending: Ending) => void
}

/** What goes out to sessions, and what is held back from those that do not read. */
export interface Deliveries {
  readonly prepare: Prepare
  /** The state of a channel, if it has one and the client may know of it: public, or among `allowed`. */
  readonly snapshot: (channel: string, allowed: ReadonlySet<number>) => Snapshot | null
  /** Sends one subscription what its channel has now, without triggers. */
  readonly give: (subscription: Subscription, allowed: ReadonlySet<number>) => void
  /** Sends what can be missed: nothing, if the client is behind. */
  readonly sendIfQuiet: (session: Session, frame: string | Uint8Array) => void
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

  const find = (channel: string) => feed.find(stationOf(channel) ?? '')

  function visible(channel: string, allowed: ReadonlySet<number>): LiveStation | null {
    const station = find(channel)
    if (station === undefined) return null
    return station.state.profile.isPublic || allowed.has(station.state.stationId) ? station : null
  }

  const prepare: Prepare = (channel, triggers) => {
    if (channel === timeChannel) {
      const frame = Buffer.from(renderTime(nowInSeconds()))
      return ({ session }) => sendIfQuiet(session, frame)
    }
    const station = find(channel)
    if (station === undefined) return null
    const { stationId, profile } = station.state
    if (!profile.isPublic) return subscription => deliverPrivate(subscription, stationId, triggers)
    const frame = pubOf(channel, station, triggers)
    return subscription => deliver(subscription, station, frame, triggers)
  }

  function deliver(
    subscription: Subscription,
    station: LiveStation,
    frame: Uint8Array,
    triggers: readonly Trigger[]
  ): void {
    const { session } = subscription
    if (session.phase === 'ended') return
    // A publication names no epoch, so a client can only learn a new one by connecting again.
    if (subscription.epoch !== '' && subscription.epoch !== station.state.epoch)
      return end(session, 'insufficientState')
    subscription.epoch = station.state.epoch
    if (isBehind(session) || session.held.has(subscription)) hold(subscription, triggers)
    else session.transport.send(frame)
  }

  /** The permission is asked for every time, so that a revoked key falls silent. */
  function deliverPrivate(subscription: Subscription, stationId: number, triggers: readonly Trigger[]): void {
    const { session, channel } = subscription
    if (session.key === '') return
    permissions
      .among(session.key, [stationId])
      .then(allowed => {
        if (session.subscriptions.get(channel) !== subscription) return
        const station = visible(channel, allowed)
        if (station !== null) deliver(subscription, station, pubOf(channel, station, triggers), triggers)
      })
      .catch((error: unknown) => log.error({ err: error, station: stationId }, 'a delivery failed'))
  }

  function hold(subscription: Subscription, triggers: readonly Trigger[]): void {
    for (const trigger of triggers) subscription.missed.add(trigger)
    subscription.session.held.add(subscription)
    noteBehind(subscription.session)
  }

  function noteBehind(session: Session): void {
    if (session.held.size === 0 && !isBehind(session)) return
    session.slowSinceMs ??= Date.now()
    behind.add(session)
  }

  function release(session: Session): void {
    if (session.held.size === 0) return
    session.transport.cork(() => {
      for (const subscription of session.held) {
        if (isBehind(session)) return
        const triggers = [...subscription.missed]
        session.held.delete(subscription)
        subscription.missed.clear()
        prepare(subscription.channel, triggers)?.(subscription)
      }
    })
  }

  function check(session: Session, nowMs: number): void {
    release(session)
    if (session.phase === 'ended') return
    if (!isBehind(session) && session.held.size === 0) {
      session.slowSinceMs = null
      behind.delete(session)
    } else if (
      session.transport.waitingBytes() > slowBytes ||
      nowMs - (session.slowSinceMs ?? nowMs) > slowMs
    ) {
      end(session, 'slow')
    }
  }

  return {
    prepare,
    sendIfQuiet,
    noteBehind,
    release,
    snapshot: (channel, allowed) => {
      const station = visible(channel, allowed)
      return station === null ? null : snapshotOf(station)
    },
    give: (subscription, allowed) => {
      const { channel, session } = subscription
      if (channel === timeChannel) return sendIfQuiet(session, renderTime(nowInSeconds()))
      const station = visible(channel, allowed)
      if (station !== null) deliver(subscription, station, pubOf(channel, station, []), [])
    },
    checkBehind: nowMs => {
      for (const session of behind) check(session, nowMs)
    },
    forget: session => void behind.delete(session)
  }
}

const isBehind = ({ transport }: Session) => transport.waitingBytes() > behindBytes

function sendIfQuiet(session: Session, frame: string | Uint8Array): void {
  if (!isBehind(session)) session.transport.send(frame)
}

const nowInSeconds = () => Math.floor(Date.now() / 1000)

function snapshotOf(station: LiveStation): Snapshot {
  const { epoch, version: offset } = station.state
  const nowSeconds = nowInSeconds()
  return { epoch, offset, document: station.eventText(nowSeconds), nowSeconds }
}

function pubOf(channel: string, station: LiveStation, triggers: readonly Trigger[]): Buffer {
  return Buffer.from(renderPub(channel, snapshotOf(station), triggers))
}
