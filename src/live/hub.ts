import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import { withDeadline } from '../runtime/deadline.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import type { Logger } from '../runtime/log.ts'
import { openSlicedQueue } from '../runtime/time-slices.ts'
import { mayHaveBeenSent } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { Admission } from './admission.ts'
import { type Channel, openChannels } from './channels.ts'
import { delayPublication, showDue } from './delays.ts'
import { openDeliveries } from './deliveries.ts'
import { openFanOut } from './fan-out.ts'
import type { Feed } from './feed/feed.ts'
import type { LiveStation } from './feed/live-station.ts'
import { openFrame, pingFrame, renderConnect, renderEntry, waitingEntry } from './frames.ts'
import { type ListenPermission, openPermissions } from './permissions.ts'
import {
  channelCredit,
  channelOf,
  channelsOf,
  channelsPerSecond,
  type DisconnectReason,
  maxMessageBytes,
  maxMessages,
  parseSubscribe,
  stationOfChannel,
  type Subscribe,
  timeChannel,
  type SubscriptionRequest
} from './protocol.ts'
import {
  endSession,
  openSession,
  sendFrame,
  type Session,
  type Subscription,
  type Transport,
  type NewClient
} from './session.ts'

export interface HubOptions {
  readonly feed: Feed
  readonly admission: Admission
  /** Whether a key may listen to a private station. It is asked at every delivery, so it should be quick. */
  readonly mayListen: ListenPermission
  readonly log: Logger
  /** Every channel is repeated this often at the latest, give or take a tick. */
  readonly heartbeatMs?: number
  readonly pingIntervalMs?: number
  /** How long a client may take to say what it wants. */
  readonly staleMs?: number
  /** How long a client may stay behind. */
  readonly slowMs?: number
  readonly timeIntervalMs?: number
  /** How often all of these are looked at. */
  readonly tickMs?: number
}

/** All sessions of this process, of all transports. */
export interface Hub {
  /**
   * A new client; it has to `receive` a subscribe message in time. Its place is given back when it leaves.
   */
  readonly join: (transport: Transport, visitor: NewClient) => Session
  readonly receive: (session: Session, text: string) => void
  /** Tells the client why, and closes. */
  readonly end: (session: Session, ending: DisconnectReason) => void
  /** The client has read something: what was held back may go on. */
  readonly drained: (session: Session) => void
  /** The connection is gone. To be called once. */
  readonly leave: (session: Session) => void
  readonly size: () => number
  /**
   * Sends everybody home, in slices, within little more than a second; resolves when everybody has been told.
   * Who comes later is sent home too.
   */
  readonly drain: () => Promise<void>
  readonly close: () => void
}

/** Length of a time slice in which messages are answered. */
const sliceMs = 1

/** Timeout for asking Redis for a newer state. */
const refreshMs = 1_000

/** No station has it. */
const nobodysId = 0

const drainSlices = 20
const drainPauseMs = 50
/** Fewer sessions are not worth a pause. */
const drainSliceAtLeast = 100

export function openHub(options: HubOptions): Hub {
  const { feed, admission, log, heartbeatMs = 12_000, pingIntervalMs = 25_000 } = options
  const { staleMs = 10_000, slowMs = 30_000, timeIntervalMs = 60_000, tickMs = 500 } = options
  const sessions = new Set<Session>()
  const channels = openChannels(channel => {
    // The first repetition comes at a random time, so that channels do not come in step.
    channel.dueAtMs =
      channel.name === timeChannel ? Infinity : performance.now() + heartbeatMs * (0.5 + Math.random() / 2)
    if (channel.delayMs > 0) channel.shown = feed.find(stationOfChannel(channel.name) ?? '') ?? null
  })
  const permissions = openPermissions(options.mayListen, log)
  const deliveries = openDeliveries({ feed, permissions, slowMs, log, end })
  const fanOut = openFanOut(deliveries.prepare, error => log.error({ err: error }, 'a delivery failed'))
  let timeDueAtMs = performance.now() + timeIntervalMs
  let lastTickMs = performance.now()
  let isDraining = false

  function end(session: Session, ending: DisconnectReason): void {
    forget(session)
    endSession(session, ending)
  }

  function forget(session: Session): void {
    channels.leave(session)
    deliveries.forget(session)
    sessions.delete(session)
  }

  /** An error ends the session in which it happened, not the process. */
  function guard(session: Session, action: () => void): void {
    try {
      action()
    } catch (error) {
      log.error({ err: error }, 'a session failed')
      end(session, 'internal')
    }
  }

  /** Answering takes longer than sending a message, so messages are answered in time slices. */
  const inboxes = openSlicedQueue<Session>(sliceMs, session => guard(session, () => takeMessage(session)))

  function receive(session: Session, text: string): void {
    if (session.phase === 'ended') return
    const inbox = (session.inbox ??= [])
    inbox.push(text)
    const size = inbox.reduce((sum, each) => sum + each.length, 0)
    if (inbox.length > 1 && (inbox.length > maxMessages || size > maxMessageBytes))
      return end(session, 'tooManyMessages')
    if (session.phase !== 'asking') inboxes.add(session)
  }

  function takeMessage(session: Session): void {
    const text = session.inbox?.shift()
    if (session.inbox?.length === 0) session.inbox = null
    if (text === undefined || session.phase === 'ended') return
    answer(session, text)
    continueWith(session)
  }

  function continueWith(session: Session): void {
    if (session.inbox !== null && session.phase !== 'asking') inboxes.add(session)
  }

  function answer(session: Session, text: string): void {
    const message = parseSubscribe(text)
    const isFirst = session.phase === 'waiting'
    if (typeof message === 'string') {
      // Later frames that make no sense are ignored; the limits hold for all.
      if (isFirst || message !== 'badRequest') end(session, message)
      return
    }
    if (!isFirst && message.wishes === null) return
    session.credit -= message.wishes?.length ?? 0
    if (session.credit < 0) return end(session, 'tooManyMessages')
    if (message.token !== '') session.key = message.token
    const { phase } = session
    const questions = questionsOf(session, message)
    if (questions === null) return accept(session, message, new Set())
    session.phase = 'asking'
    void questions.then(allowed => {
      guard(session, () => {
        if (session.phase !== 'asking') return
        session.phase = phase
        accept(session, message, allowed)
        continueWith(session)
      })
    })
  }

  /** The private stations of a message for which the key's permission has to be checked first. */
  function questionsOf(session: Session, { wishes }: Subscribe): Promise<ReadonlySet<number>> | null {
    const ahead: LiveStation[] = []
    const hiddenIds = new Set<number>()
    for (const wish of wishes ?? []) {
      const name = stationOfChannel(wish.channel)
      const station = name === null ? undefined : feed.find(name)
      if (station !== undefined && isAhead(wish, station)) ahead.push(station)
      // An unknown station is asked about like a private one, or the time it takes would tell them apart.
      if (name !== null && station?.state.profile.isPublic !== true)
        hiddenIds.add(station?.state.stationId ?? nobodysId)
    }
    const askedIds = session.key === '' ? [] : [...hiddenIds]
    if (askedIds.length === 0 && ahead.length === 0) return null
    const asked = permissions.among(session.key, askedIds, session.owner.name)
    return Promise.all([asked, refresh(ahead)]).then(([allowed]) => allowed)
  }

  /**
   * Reads newer states from Redis first: another server may have shown them, and offsets must not decrease.
   * Never rejects.
   */
  async function refresh(stations: readonly LiveStation[]): Promise<void> {
    if (stations.length === 0) return
    const all = Promise.all(stations.map(({ state }) => feed.catchUp(state.stationId)))
    await withDeadline(refreshMs, 'a newer state', () => all).catch(() => {})
  }

  function accept(session: Session, { wishes }: Subscribe, allowed: ReadonlySet<number>): void {
    const known = (wishes ?? []).filter(
      ({ channel }) => channel === timeChannel || stationOfChannel(channel) !== null
    )
    // Join first, then look: no change falls between the snapshot and what follows it.
    channels.subscribe(session, known, fanOut.position())
    session.transport.cork(() => {
      const isFirst = session.phase === 'waiting'
      if (isFirst) connect(session, known, allowed)
      for (const [index, subscription] of session.subscriptions.entries()) {
        const isAnswered =
          isFirst && known[index]?.recover === true && subscription.channel.name !== timeChannel
        if (!isAnswered) deliveries.give(subscription, allowed)
      }
    })
  }

  function connect(
    session: Session,
    wishes: readonly SubscriptionRequest[],
    allowed: ReadonlySet<number>
  ): void {
    session.phase = 'connected'
    session.dueAtMs = performance.now() + pingIntervalMs * (0.5 + Math.random() / 2)
    const entries = session.subscriptions.map((subscription, index) => {
      const wish = wishes[index]
      const entry = wish === undefined ? waitingEntry : entryFor(subscription, wish, allowed)
      return [subscription.channel.name, entry] as const
    })
    const pingSeconds = Math.max(1, Math.round(pingIntervalMs / 1000))
    const frame = renderConnect({
      client: randomUUID(),
      session: randomUUID(),
      pingSeconds,
      nowMs: engineTimeMs(),
      entries
    })
    sendFrame(session, openFrame(frame))
    deliveries.noteBehind(session)
  }

  /** The entry of a channel in the connect frame; the subscription then knows the client's state. */
  function entryFor(
    subscription: Subscription,
    wish: SubscriptionRequest,
    allowed: ReadonlySet<number>
  ): string {
    const station = deliveries.visible(subscription.channel, allowed)
    if (station === null) return waitingEntry
    const { epoch, offset } = station.state
    const current = deliveries.snapshotOf(station)
    const isSameEpoch = wish.recover && wish.epoch === epoch
    // A client that comes from another server may have more than a delayed channel shows, or than a server
    // knows that is cut off from Redis. It hears nothing until the channel has come that far, because offsets
    // never go back.
    const isBeyond = wish.offset > offset && mayHaveBeenSent(wish.offset, engineTimeMs())
    // Nobody is told to be up to date by a server that does not know.
    const isCurrent = wish.offset === offset && current.staleSince === null
    const isUpToDate = isSameEpoch && (isBeyond || isCurrent)
    subscription.epoch = epoch
    subscription.offset = isUpToDate ? wish.offset : offset
    const hasState = wish.recover && !isUpToDate
    if (hasState && subscription.isDelta && current.staleSince === null) subscription.base = station
    const snapshot = { ...current, offset: subscription.offset }
    return renderEntry(snapshot, { recover: wish.recover, isUpToDate, isDelta: subscription.isDelta })
  }

  function tick(): void {
    const nowMs = performance.now()
    deliveries.checkBehind(nowMs)
    const credit = ((nowMs - lastTickMs) / 1_000) * channelsPerSecond
    lastTickMs = nowMs
    for (const session of sessions) {
      if (session.credit < channelCredit) session.credit = Math.min(channelCredit, session.credit + credit)
      if (nowMs < session.dueAtMs) continue
      if (session.phase === 'waiting') end(session, 'stale')
      else if (session.phase === 'connected') {
        session.dueAtMs = nowMs + pingIntervalMs
        deliveries.sendIfQuiet(session, pingFrame)
      }
    }
    for (const channel of channels.all()) {
      const triggers = channel.postponed.length > 0 ? showDue(channel, engineTimeMs()) : null
      if (triggers !== null || nowMs >= channel.dueAtMs) publish(channel, triggers ?? [])
    }
    if (nowMs >= timeDueAtMs) {
      timeDueAtMs = nowMs + timeIntervalMs
      for (const channel of channels.named(timeChannel)) fanOut.publish(channel, [])
    }
  }

  function publish(channel: Channel, triggers: Iterable<Trigger>): void {
    channel.dueAtMs = performance.now() + heartbeatMs
    fanOut.publish(channel, triggers)
  }

  const stopListening = feed.onChange((station, triggers) => {
    const { stationId, profile } = station.state
    for (const name of channelsOf(stationId, profile.shortName)) {
      for (const channel of channels.named(name)) {
        const isShown = channel.delayMs === 0 || delayPublication(channel, station, triggers, engineTimeMs())
        if (isShown) publish(channel, triggers)
      }
    }
  })
  const stopHearingOfGone = feed.onGone(idOrName => {
    for (const channel of channels.named(channelOf(idOrName))) publish(channel, [])
  })
  const timer = setInterval(() => {
    try {
      tick()
    } catch (error) {
      log.error({ err: error }, 'a tick of the audience failed')
    }
  }, tickMs)

  function close(): void {
    clearInterval(timer)
    stopListening()
    stopHearingOfGone()
    inboxes.close()
    fanOut.close()
  }

  return {
    end,
    join: (transport, visitor) => {
      const session = openSession(transport, visitor, performance.now() + staleMs)
      if (isDraining) endSession(session, 'shutdown')
      else sessions.add(session)
      return session
    },
    receive: (session, text) => guard(session, () => receive(session, text)),
    drained: session => guard(session, () => deliveries.release(session)),
    leave: session => {
      session.phase = 'ended'
      forget(session)
      admission.leave(session.owner)
    },
    size: () => sessions.size,
    drain: async () => {
      isDraining = true
      const slice = Math.max(drainSliceAtLeast, Math.ceil(sessions.size / drainSlices))
      let count = 0
      for (const session of sessions) {
        end(session, 'shutdown')
        if (++count % slice === 0) await wait(drainPauseMs)
      }
      close()
    },
    close
  }
}

function isAhead({ recover, epoch, offset }: SubscriptionRequest, { state }: LiveStation): boolean {
  return recover && epoch === state.epoch && offset > state.offset
}
