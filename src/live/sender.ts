import type { ListenGrant } from '../model/station/listen-grant.ts'
import type { Trigger } from '../model/station/triggers.ts'
import type { Logger } from '../platform/runtime/log.ts'
import type { DeliverPublication, PreparePublication } from './fan-out.ts'
import { engineTimeSeconds } from './feed/live-station.ts'
import type { Followers } from './followers.ts'
import { type EncodedFrame, encodeFrame, renderTimeFrame } from './frames.ts'
import type { ListenPermissions } from './listen-permissions.ts'
import { type DisconnectReason, timeChannel } from './protocol.ts'
import type { Publications, RenderedPublication } from './publications.ts'
import type { LiveSession, Subscription } from './session.ts'

interface DeliveryOptions {
  readonly publications: Publications
  readonly permissions: ListenPermissions
  readonly followers: Followers
  /** How long a client may stay behind. */
  readonly slowMs: number
  readonly log: Logger
  readonly end: (session: LiveSession, reason: DisconnectReason) => void
}

export type PublicationSender = ReturnType<typeof openPublicationSender>

/** Sends publications to sessions. */
export function openPublicationSender(options: DeliveryOptions) {
  const { publications, permissions, followers, slowMs, log, end } = options
  const backPressure = openBackPressure({
    slowMs,
    end,
    sendNewest: (subscription, triggers) => prepare(subscription.channel, triggers)?.(subscription)
  })

  const prepare: PreparePublication = (channel, triggers) => {
    if (channel.name === timeChannel) {
      const frame = encodeFrame(renderTimeFrame(engineTimeSeconds()))
      return ({ session }) => sendUnlessBehind(session, frame)
    }
    const station = publications.find(channel)
    if (station === undefined) return subscription => endIfShown(subscription)
    const { stationId } = station
    if (!publications.isPublic(stationId)) {
      let shared: DeliverPublication | null = null
      // Listeners with tokens may be many, so they share a publication.
      const deliver: DeliverPublication = subscription =>
        (shared ??= deliverRendered(publications.render(channel, station, triggers), triggers))(subscription)
      return subscription =>
        subscription.session.grant === null
          ? deliverPrivate(subscription, stationId, triggers)
          : deliverGranted(subscription, subscription.session.grant, stationId, deliver)
    }
    return deliverRendered(publications.render(channel, station, triggers), triggers)
  }

  function deliverRendered(
    publication: RenderedPublication,
    triggers: ReadonlySet<Trigger>
  ): DeliverPublication {
    const { station, isStale } = publication
    const { epoch, offset, stationId } = station
    return subscription => {
      const { session } = subscription
      if (session.phase === 'ended') return
      if (subscription.epoch !== epoch) {
        // Publications do not name their epoch, so a client learns a new one only by connecting again.
        if (subscription.epoch !== '') return end(session, 'insufficientState')
        // A station that appeared after the client had subscribed.
        if (!followers.alsoFollow(session, stationId)) return end(session, 'stationFull')
        subscription.epoch = epoch
      } else if (offset < subscription.offset) return
      if (backPressure.isHeldBack(subscription)) return backPressure.hold(subscription, triggers)
      subscription.offset = offset
      if (subscription.isDelta) {
        // Only full publications say that a state is stale, or that it is current again.
        sendFrame(session, publication.deltaFrame(isStale ? null : subscription.base))
        subscription.base = isStale ? null : station
      } else sendFrame(session, publication.fullFrame())
    }
  }

  /** Delivers to a session with a listen token, unless that has expired or was revoked. */
  function deliverGranted(
    subscription: Subscription,
    grant: ListenGrant,
    stationId: number,
    deliver: DeliverPublication
  ): void {
    if (publications.isGranted(grant, stationId)) deliver(subscription)
    else endIfShown(subscription, 'tokenExpired')
  }

  /** Checks the permission each time, so that a revoked key ends the subscription. */
  function deliverPrivate(
    subscription: Subscription,
    stationId: number,
    triggers: ReadonlySet<Trigger>
  ): void {
    const { session, channel } = subscription
    if (session.key === '') return endIfShown(subscription)
    permissions
      .among(session.key, [stationId])
      .then(allowed => {
        if (!session.subscriptions.includes(subscription)) return
        const station = publications.findVisible(channel, allowed)
        if (station === null) endIfShown(subscription)
        else deliverRendered(publications.render(channel, station, triggers), triggers)(subscription)
      })
      .catch((error: unknown) => log.error({ err: error, station: stationId }, 'delivery failed'))
  }

  /** Disconnects a client that was shown a station which is deleted, or no longer visible to it. */
  function endIfShown(
    { session, epoch }: Subscription,
    reason: DisconnectReason = 'insufficientState'
  ): void {
    if (epoch !== '' && session.phase !== 'ended') end(session, reason)
  }

  return {
    prepare,
    backPressure,
    /** Sends a subscription the current state of its channel, without triggers. */
    sendCurrent: (subscription: Subscription, allowed: ReadonlySet<number>) => {
      const { channel, session } = subscription
      if (channel.name === timeChannel)
        return sendUnlessBehind(session, encodeFrame(renderTimeFrame(engineTimeSeconds())))
      const station = publications.findVisible(channel, allowed)
      if (station === null) return
      deliverRendered(publications.render(channel, station, noTriggers), noTriggers)(subscription)
    }
  }
}

/** Sends a frame that a client can do without: a client that is behind does not get it. */
export function sendUnlessBehind(session: LiveSession, frame: EncodedFrame): void {
  if (!isClientBehind(session)) sendFrame(session, frame)
}

/** Sends a frame and notes unsent bytes. */
export function sendFrame(session: LiveSession, frame: EncodedFrame): void {
  if (!session.transport.send(frame)) session.isClear = false
}

/** A client with more unread bytes is sent nothing new until it has read. */
const behindBytes = 64 * 1024

/** A client with more unread bytes is disconnected. */
const slowBytes = 1024 * 1024

interface BackPressureOptions {
  /** How long a client may stay behind. */
  readonly slowMs: number
  /** Sends the newest state of a subscription's channel. */
  readonly sendNewest: (subscription: Subscription, triggers: ReadonlySet<Trigger>) => void
  readonly end: (session: LiveSession, reason: DisconnectReason) => void
}

/**
 * Holds publications back from clients that do not read. Of each channel only the triggers are kept: once the
 * client reads again it gets the newest state.
 */
function openBackPressure({ slowMs, sendNewest, end }: BackPressureOptions) {
  const watched = new Set<LiveSession>()

  /** Watches a session that may have fallen behind. */
  function watch(session: LiveSession): void {
    if (session.heldBack === null && !isClientBehind(session)) return
    if (session.slowSinceMs === 0) session.slowSinceMs = performance.now()
    watched.add(session)
  }

  /** Sends what was held back, until the client is behind again. */
  function release(session: LiveSession): void {
    if (session.heldBack === null) return
    session.transport.cork(() => {
      for (const subscription of session.heldBack ?? []) {
        if (isClientBehind(session)) return
        const triggers = subscription.missedTriggers ?? noTriggers
        session.heldBack?.delete(subscription)
        subscription.missedTriggers = null
        sendNewest(subscription, triggers)
      }
      if (session.heldBack?.size === 0) session.heldBack = null
    })
  }

  function checkSession(session: LiveSession, nowMs: number): void {
    release(session)
    if (session.phase === 'ended') return
    if (session.heldBack === null && !isClientBehind(session)) {
      session.slowSinceMs = 0
      watched.delete(session)
    } else if (session.transport.waitingBytes() > slowBytes || nowMs - session.slowSinceMs > slowMs) {
      end(session, 'slow')
    }
  }

  return {
    watch,
    release,
    /** Whether nothing may be sent to a subscription now. */
    isHeldBack: (subscription: Subscription): boolean => {
      const { session } = subscription
      if (session.isClear) return false
      if (session.heldBack?.has(subscription) === true) return true
      const waitingBytes = session.transport.waitingBytes()
      if (waitingBytes === 0 && session.heldBack === null) session.isClear = true
      return waitingBytes > behindBytes
    },
    /** Notes that the channel's newest state has to be sent later, with these triggers. */
    hold: (subscription: Subscription, triggers: ReadonlySet<Trigger>) => {
      const { session } = subscription
      if (triggers.size > 0)
        subscription.missedTriggers = new Set([...(subscription.missedTriggers ?? []), ...triggers])
      subscription.base = null
      session.heldBack ??= new Set()
      session.heldBack.add(subscription)
      watch(session)
    },
    /** The sessions that may be behind. */
    watched: (): readonly LiveSession[] => [...watched],
    /** Releases a watched session, or ends it if it stays behind. */
    check: checkSession,
    forget: (session: LiveSession) => void watched.delete(session)
  }
}

/** Whether a client has so many unread bytes that optional frames are not sent to it. */
const isClientBehind = ({ isClear, transport }: LiveSession) =>
  !isClear && transport.waitingBytes() > behindBytes

const noTriggers: ReadonlySet<Trigger> = new Set()
