import { setTimeout as wait } from 'node:timers/promises'

import { connectionsMetric, disconnectsMetric } from '../platform/metrics/push.ts'
import type { Logger } from '../platform/runtime/log.ts'
import { openTimeSlicedQueue } from '../platform/runtime/time-slices.ts'
import { openChannels } from './channels.ts'
import type { ConnectionAdmission } from './connection-admission.ts'
import { openFanOut } from './fan-out.ts'
import type { Feed } from './feed/feed.ts'
import { type Followers, openFollowers } from './followers.ts'
import { openHeartbeats } from './heartbeats.ts'
import { type MayListen, openListenPermissions, type ReadListenGrant } from './listen-permissions.ts'
import { type DisconnectReason, maxMessageBytes, maxMessageRate, parseStationChannel } from './protocol.ts'
import { openPublications } from './publications.ts'
import { openPublicationSender } from './sender.ts'
import {
  type Channel,
  endLiveSession,
  type NewClient,
  openLiveSession,
  type LiveSession,
  type LiveTransport
} from './session.ts'
import { openSubscriptions } from './subscriptions.ts'

export interface HubOptions {
  readonly feed: Feed
  readonly admission: ConnectionAdmission
  /** Whether a key may listen to a private station. Called at every delivery, so it should be fast. */
  readonly mayListen: MayListen
  /** By default, there are no listen tokens. */
  readonly readGrant?: ReadListenGrant
  /** By default, the followers of a station are not limited. */
  readonly followers?: Followers
  readonly log: Logger
  /** The usual interval of heartbeats, give or take a tick. */
  readonly heartbeatMs?: number
  readonly pingIntervalMs?: number
  /** Timeout for a client's first message. */
  readonly staleMs?: number
  /** How long a client may stay behind. */
  readonly slowMs?: number
  readonly timeIntervalMs?: number
  /** Interval between two checks of all sessions and channels. */
  readonly tickMs?: number
}

export type Hub = ReturnType<typeof openHub>

/** Length of a time slice in which messages are handled. */
const sliceMs = 1

const drainSlices = 20
const drainPauseMs = 50
/** Fewer sessions than this are ended without a pause. */
const minDrainSlice = 100

/** Holds all sessions of this process, of all transports. */
export function openHub(options: HubOptions) {
  const { feed, admission, log, heartbeatMs = 12_000, pingIntervalMs = 25_000 } = options
  const { staleMs = 10_000, slowMs = 30_000, timeIntervalMs = 60_000, tickMs = 500 } = options
  const { readGrant = () => null, followers = openFollowers() } = options
  const sessions = new Set<LiveSession>()
  const channels = openChannels(channel => {
    if (channel.delayMs > 0) channel.shown = feed.find(parseStationChannel(channel.name) ?? '') ?? null
    fanOut.schedule(channel)
  })
  const permissions = openListenPermissions(options.mayListen, log)
  const publications = openPublications(feed)
  const sender = openPublicationSender({ publications, permissions, followers, slowMs, log, end })
  const { backPressure } = sender
  const fanOut = openFanOut({
    feed,
    channels,
    publications,
    prepare: sender.prepare,
    onError: noteFault,
    heartbeatMs
  })
  const shared = { channels, fanOut, pingIntervalMs, end }
  const handleMessage = openSubscriptions({
    ...shared,
    feed,
    publications,
    permissions,
    readGrant,
    followers,
    sender
  })
  const heartbeats = openHeartbeats({
    ...shared,
    timeIntervalMs,
    tickMs,
    sessions,
    publications,
    noteFault,
    fail,
    backPressure
  })
  let isDraining = false

  /** Sends the reason and closes. */
  function end(session: LiveSession, reason: DisconnectReason): void {
    forget(session)
    endLiveSession(session, reason)
  }

  function forget(session: LiveSession): void {
    channels.leave(session)
    followers.leave(session)
    backPressure.forget(session)
    sessions.delete(session)
  }

  /** A station whose publications fail affects no other one. */
  function noteFault(channel: Channel | null, error: unknown): void {
    const station = channel === null ? undefined : publications.find(channel)
    if (station === undefined) log.error({ err: error, channel: channel?.name }, 'publication failed')
    else feed.onUnrendered(station, error)
  }

  /** An error ends the session in which it occurred, not the process. */
  function fail(session: LiveSession, error: unknown): void {
    log.error({ err: error }, 'session failed')
    end(session, 'internal')
  }

  function guard(session: LiveSession, action: () => void): void {
    try {
      action()
    } catch (error) {
      fail(session, error)
    }
  }

  /** Messages are handled in time slices, because handling takes longer than sending. */
  const inboxes = openTimeSlicedQueue<LiveSession>(sliceMs, session =>
    guard(session, () => handleNext(session))
  )

  function receive(session: LiveSession, text: string): void {
    if (session.phase === 'ended') return
    const inbox = (session.inbox ??= [])
    inbox.push(text)
    const size = inbox.reduce((sum, each) => sum + each.length, 0)
    if (inbox.length > 1 && (inbox.length > maxMessageRate || size > maxMessageBytes))
      return end(session, 'tooManyMessages')
    enqueue(session)
  }

  function enqueue(session: LiveSession): void {
    if (session.inbox !== null && session.phase !== 'authorizing') inboxes.add(session)
  }

  function handleNext(session: LiveSession): void {
    const text = session.inbox?.shift()
    if (session.inbox?.length === 0) session.inbox = null
    if (text === undefined || session.phase === 'ended') return
    const handled = handleMessage(session, text)
    if (handled === null) return enqueue(session)
    void handled.then(
      () => enqueue(session),
      (error: unknown) => fail(session, error)
    )
  }

  function close(): void {
    heartbeats.close()
    inboxes.close()
    fanOut.close()
  }

  return {
    end,
    /** Opens a session, with a timeout for its first message. `leave` releases its admission. */
    join: (transport: LiveTransport, client: NewClient): LiveSession => {
      const session = openLiveSession(transport, client, performance.now() + staleMs)
      connectionsMetric[transport.name]++
      if (isDraining) endLiveSession(session, 'shutdown')
      else sessions.add(session)
      return session
    },
    receive: (session: LiveSession, text: string) => guard(session, () => receive(session, text)),
    /** The client reads again: sends what was held back. */
    drained: (session: LiveSession) => guard(session, () => backPressure.release(session)),
    /** The connection was closed; to be called once. */
    leave: (session: LiveSession) => {
      connectionsMetric[session.transport.name]--
      if (session.phase !== 'ended') disconnectsMetric.client++
      session.phase = 'ended'
      forget(session)
      admission.leave(session.owner)
    },
    size: () => sessions.size,
    /** Ends all sessions, in slices, within little more than a second, and refuses new ones. */
    drain: async () => {
      isDraining = true
      const slice = Math.max(minDrainSlice, Math.ceil(sessions.size / drainSlices))
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
