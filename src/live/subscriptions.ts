import { randomUUID } from 'node:crypto'

import { isPlausibleOffset } from '../model/station/state.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import type { Channels } from './channels.ts'
import type { FanOut } from './fan-out.ts'
import type { Feed } from './feed/feed.ts'
import type { LiveStation } from './feed/live-station.ts'
import type { Followers } from './followers.ts'
import { emptyChannelEntry, encodeFrame, renderConnectFrame, renderChannelEntry } from './frames.ts'
import type { ListenPermissions, ReadListenGrant } from './listen-permissions.ts'
import {
  type DisconnectReason,
  parseSubscribeMessage,
  parseStationChannel,
  type SubscribeRequest,
  type SubscriptionRequest,
  timeChannel
} from './protocol.ts'
import type { Publications } from './publications.ts'
import { sendFrame, type PublicationSender } from './sender.ts'
import type { LiveSession, Subscription } from './session.ts'

/** The private stations that a key may listen to. */
type Allowed = ReadonlySet<number>

/** Timeout for reading newer states from Redis. */
const refreshMs = 1_000

/** No station has this id. */
const unknownId = 0

interface SubscribingOptions {
  readonly feed: Feed
  readonly channels: Channels
  readonly publications: Publications
  readonly permissions: ListenPermissions
  readonly readGrant: ReadListenGrant
  readonly followers: Followers
  readonly sender: PublicationSender
  readonly fanOut: FanOut
  readonly pingIntervalMs: number
  readonly end: (session: LiveSession, reason: DisconnectReason) => void
}

/** Subscribes sessions to channels: parse, authorize, join, send the connect frame or the current states. */
export function openSubscriptions(options: SubscribingOptions) {
  const { feed, channels, publications, permissions, sender, fanOut, pingIntervalMs, end } = options
  const { readGrant, followers } = options

  /** Handles a message. Returns null if that is done, or a promise while the session is `authorizing`. */
  function handleMessage(session: LiveSession, text: string): Promise<void> | null {
    const message = parseSubscribeMessage(text)
    const { phase } = session
    const isFirst = phase === 'waiting'
    if (typeof message === 'string') {
      // Later frames that cannot be parsed are ignored; the limits hold for all.
      if (isFirst || message !== 'badRequest') end(session, message)
      return null
    }
    if (!isFirst && message.requests === null) return null
    session.credit -= message.requests?.length ?? 0
    if (session.credit < 0) {
      end(session, 'tooManyMessages')
      return null
    }
    if (message.token !== '') session.key = message.token
    if (isFirst || message.token !== '') session.grant = readGrant(session.key)
    const authorized = authorize(session, message)
    if (authorized === null) {
      subscribe(session, message, grantedStations(session))
      return null
    }
    session.phase = 'authorizing'
    return authorized.then(allowed => {
      if (session.phase !== 'authorizing') return
      session.phase = phase
      subscribe(session, message, session.grant === null ? allowed : grantedStations(session))
    })
  }

  /** The station of the session's listen token; none if it has no valid one. */
  function grantedStations({ grant }: LiveSession): Allowed {
    return grant !== null && publications.isGranted(grant, grant.stationId)
      ? new Set([grant.stationId])
      : noStations
  }

  /** Returns null if nothing has to be checked. Also reads states again that are older than the client's. */
  function authorize(session: LiveSession, { requests }: SubscribeRequest): Promise<Allowed> | null {
    const older: LiveStation[] = []
    const hiddenIds = new Set<number>()
    for (const request of requests ?? []) {
      const name = parseStationChannel(request.channel)
      const station = name === null ? undefined : feed.find(name)
      if (station !== undefined && hasNewerState(request, station)) older.push(station)
      // An unknown station is checked like a private one; otherwise the response time would tell them apart.
      if (name !== null && station?.isPublic !== true) hiddenIds.add(station?.stationId ?? unknownId)
    }
    const checkedIds = session.key === '' || session.grant !== null ? [] : [...hiddenIds]
    if (checkedIds.length === 0 && older.length === 0) return null
    const allowed = permissions.among(session.key, checkedIds, session.owner.name)
    return Promise.all([allowed, refresh(older)]).then(([ids]) => ids)
  }

  /** Reads newer states, which another server may have shown: offsets must not decrease. Never rejects. */
  async function refresh(stations: readonly LiveStation[]): Promise<void> {
    if (stations.length === 0) return
    const all = Promise.all(stations.map(({ state }) => feed.catchUp(state.stationId)))
    await withDeadline(refreshMs, 'a newer state', () => all).catch(() => {})
  }

  function subscribe(session: LiveSession, { requests }: SubscribeRequest, allowed: Allowed): void {
    const known = (requests ?? []).filter(
      ({ channel }) => channel === timeChannel || parseStationChannel(channel) !== null
    )
    if (!followers.follow(session, listVisibleStations(known, allowed))) return end(session, 'stationFull')
    // Joins before it reads the state, so that no change falls between the snapshot and what follows.
    channels.subscribe(session, known, fanOut.position())
    session.transport.cork(() => {
      const isFirst = session.phase === 'waiting'
      if (isFirst) connect(session, known, allowed)
      for (const [index, subscription] of session.subscriptions.entries()) {
        const isInConnect =
          isFirst && known[index]?.recover === true && subscription.channel.name !== timeChannel
        if (!isInConnect) sender.sendCurrent(subscription, allowed)
      }
    })
  }

  /** The stations that a session is shown with these subscriptions, each once. */
  function listVisibleStations(
    requests: readonly SubscriptionRequest[],
    allowed: Allowed
  ): readonly number[] {
    const ids = requests.flatMap(({ channel }) => {
      const station = feed.find(parseStationChannel(channel) ?? '')
      if (station === undefined) return []
      return station.isPublic || allowed.has(station.stationId) ? station.stationId : []
    })
    return ids.length > 1 ? [...new Set(ids)] : ids
  }

  /** Sends the connect frame. */
  function connect(session: LiveSession, requests: readonly SubscriptionRequest[], allowed: Allowed): void {
    session.phase = 'connected'
    session.dueAtMs = performance.now() + pingIntervalMs * (0.5 + Math.random() / 2)
    const entries = session.subscriptions.map((subscription, index) => {
      const request = requests[index]
      const entry = request === undefined ? emptyChannelEntry : recover(subscription, request, allowed)
      return [subscription.channel.name, entry] as const
    })
    const pingSeconds = Math.max(1, Math.round(pingIntervalMs / 1000))
    const ids = { client: randomUUID(), session: randomUUID() }
    const frame = renderConnectFrame({ ...ids, pingSeconds, nowMs: engineTimeMs(), entries })
    sendFrame(session, encodeFrame(frame))
    sender.backPressure.watch(session)
  }

  /** Renders a channel's entry in the connect frame, and stores the state of it in the subscription. */
  function recover(subscription: Subscription, request: SubscriptionRequest, allowed: Allowed): string {
    const station = publications.findVisible(subscription.channel, allowed)
    if (station === null) return emptyChannelEntry
    const { epoch, offset } = station
    const current = publications.snapshotOf(station)
    const isSameEpoch = request.recover && request.epoch === epoch
    // A client that comes from another server may have a newer state than a delayed channel shows, or than a
    // server has that is cut off from Redis. Nothing is sent to it until the channel has come that far.
    const isNewer = request.offset > offset && isPlausibleOffset(request.offset, engineTimeMs())
    // A server with a stale state cannot say that a client is up to date.
    const isCurrent = request.offset === offset && current.staleSince === null
    const isUpToDate = isSameEpoch && (isNewer || isCurrent)
    subscription.epoch = epoch
    subscription.offset = isUpToDate ? request.offset : offset
    const hasState = request.recover && !isUpToDate
    if (hasState && subscription.isDelta && current.staleSince === null) subscription.base = station
    const snapshot = { ...current, offset: subscription.offset }
    const { isDelta } = subscription
    return renderChannelEntry(snapshot, {
      recover: request.recover,
      isUpToDate,
      isDelta,
      heartbeatMs: request.heartbeatMs
    })
  }

  return handleMessage
}

function hasNewerState({ recover, epoch, offset }: SubscriptionRequest, { state }: LiveStation): boolean {
  return recover && epoch === state.epoch && offset > state.offset
}

const noStations: Allowed = new Set()
