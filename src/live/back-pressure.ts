import type { Trigger } from '../model/station/triggers.ts'
import type { DisconnectReason } from './protocol.ts'
import type { LiveSession, Subscription } from './session.ts'

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
export function openBackPressure({ slowMs, sendNewest, end }: BackPressureOptions) {
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
export const isClientBehind = ({ isClear, transport }: LiveSession) =>
  !isClear && transport.waitingBytes() > behindBytes

export const noTriggers: ReadonlySet<Trigger> = new Set()
