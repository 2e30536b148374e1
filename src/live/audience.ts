import { randomUUID } from 'node:crypto'

import type { Logger } from '../log.ts'
import type { Trigger } from '../station/triggers.ts'
import { openChannels } from './channels.ts'
import { openDeliveries } from './deliveries.ts'
import { openFanOut } from './fan-out.ts'
import type { Feed } from './feed.ts'
import {
  pingFrame,
  renderConnect,
  renderPositioned,
  renderRecovered,
  renderUpToDate,
  type Snapshot,
  waitingEntry
} from './frames.ts'
import { openPermissions } from './permissions.ts'
import {
  channelsOf,
  type Ending,
  parseSubscribe,
  stationOf,
  type Subscribe,
  timeChannel,
  type Wish
} from './protocol.ts'
import { endSession, openSession, type Session, type Subscription, type Transport } from './session.ts'

export interface AudienceOptions {
  readonly feed: Feed
  /** Whether a key may listen to a private station. It is asked at every delivery, so it should be quick. */
  readonly mayListen: (key: string, stationId: number) => Promise<boolean>
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

/** All sessions of this process, whatever they came in by. */
export interface Audience {
  /** A new client; it has to `receive` a subscribe message in time. */
  readonly join: (transport: Transport, key: string) => Session
  readonly receive: (session: Session, text: string) => void
  /** The client has read something: what was held back may go on. */
  readonly drained: (session: Session) => void
  /** The connection is gone. */
  readonly leave: (session: Session) => void
  readonly size: () => number
  /** Sends everybody home, in slices; resolves when everybody has been told. Who comes later is sent home too. */
  readonly drain: () => Promise<void>
  readonly close: () => void
}

export function openAudience(options: AudienceOptions): Audience {
  const { feed, log, heartbeatMs = 12_000, pingIntervalMs = 25_000 } = options
  const { staleMs = 10_000, slowMs = 30_000, timeIntervalMs = 60_000, tickMs = 500 } = options
  const sessions = new Set<Session>()
  // The first repetition comes at a random time, so that channels do not come in step.
  const channels = openChannels(() => heartbeatMs * (0.5 + Math.random() / 2))
  const permissions = openPermissions(options.mayListen, log)
  const deliveries = openDeliveries({ feed, permissions, slowMs, log, end })
  const fanOut = openFanOut(deliveries.prepare, error => log.error({ err: error }, 'a delivery failed'))
  let timeDueAtMs = Date.now() + timeIntervalMs
  let isDraining = false

  function end(session: Session, ending: Ending): void {
    forget(session)
    endSession(session, ending)
  }

  function forget(session: Session): void {
    channels.leave(session)
    deliveries.forget(session)
    sessions.delete(session)
  }

  /** A fault of ours ends the session it happened in, not the process. */
  function guard(session: Session, action: () => void): void {
    try {
      action()
    } catch (error) {
      log.error({ err: error, session: session.id }, 'a session failed')
      end(session, 'internal')
    }
  }

  function receive(session: Session, text: string): void {
    if (session.phase === 'ended') return
    if (session.phase === 'asking') {
      session.nextMessage = text
      return
    }
    const message = parseSubscribe(text)
    const isFirst = session.phase === 'waiting'
    if (typeof message === 'string') {
      // Later frames that make no sense are ignored; the limits hold for all.
      if (isFirst || message !== 'badRequest') end(session, message)
      return
    }
    if (!isFirst && message.wishes === null) return
    if (message.token !== '') session.key = message.token
    const before = session.phase
    const privateIds = privateStations(message)
    if (privateIds.length === 0 || session.key === '') return accept(session, message, new Set())
    session.phase = 'asking'
    void permissions.among(session.key, privateIds).then(allowed => {
      guard(session, () => {
        if (session.phase !== 'asking') return
        session.phase = before
        accept(session, message, allowed)
        const { nextMessage } = session
        session.nextMessage = null
        if (nextMessage !== null) receive(session, nextMessage)
      })
    })
  }

  function privateStations({ wishes }: Subscribe): number[] {
    const stations = (wishes ?? []).map(({ channel }) => feed.find(stationOf(channel) ?? ''))
    return stations.flatMap(found => (found?.state.profile.isPublic === false ? [found.state.stationId] : []))
  }

  function accept(session: Session, { wishes }: Subscribe, allowed: ReadonlySet<number>): void {
    const epochs = new Map([...session.subscriptions].map(([channel, { epoch }]) => [channel, epoch]))
    channels.leave(session)
    const known = (wishes ?? []).filter(
      ({ channel }) => channel === timeChannel || stationOf(channel) !== null
    )
    // Join first, then look: no change falls between the snapshot and what follows it.
    const joined = known.map(wish => {
      const subscription = channels.join(session, wish.channel, fanOut.position())
      subscription.epoch = epochs.get(wish.channel) ?? ''
      return { wish, subscription }
    })
    session.transport.cork(() => {
      const isFirst = session.phase === 'waiting'
      if (isFirst) connect(session, joined, allowed)
      for (const { wish, subscription } of joined) {
        if (wish.channel === timeChannel || !isFirst || !wish.recover) deliveries.give(subscription, allowed)
      }
    })
  }

  function connect(
    session: Session,
    joined: readonly { wish: Wish; subscription: Subscription }[],
    allowed: ReadonlySet<number>
  ): void {
    session.phase = 'connected'
    const nowMs = Date.now()
    session.pingAtMs = nowMs + pingIntervalMs * (0.5 + Math.random() / 2)
    const entries = joined.map(({ wish, subscription }) => {
      const snapshot = deliveries.snapshot(wish.channel, allowed)
      if (snapshot === null) return [wish.channel, waitingEntry] as const
      subscription.epoch = snapshot.epoch
      return [wish.channel, entryOf(wish, snapshot)] as const
    })
    const pingSeconds = Math.max(1, Math.round(pingIntervalMs / 1000))
    const frame = renderConnect({ client: session.id, session: randomUUID(), pingSeconds, nowMs, entries })
    session.transport.send(frame)
    deliveries.noteBehind(session)
  }

  function tick(): void {
    const nowMs = Date.now()
    deliveries.checkBehind(nowMs)
    for (const session of sessions) {
      if (session.phase === 'waiting' && nowMs - session.openedAtMs >= staleMs) end(session, 'stale')
      else if (nowMs >= session.pingAtMs) {
        session.pingAtMs = nowMs + pingIntervalMs
        deliveries.sendIfQuiet(session, pingFrame)
      }
    }
    for (const channel of channels.all()) if (nowMs >= channel.dueAtMs) publish(channel.name, [])
    if (nowMs >= timeDueAtMs) {
      timeDueAtMs = nowMs + timeIntervalMs
      publish(timeChannel, [])
    }
  }

  function publish(name: string, triggers: readonly Trigger[]): void {
    const channel = channels.get(name)
    if (channel === undefined) return
    channel.dueAtMs = name === timeChannel ? Infinity : Date.now() + heartbeatMs
    fanOut.publish(channel, triggers)
  }

  const stopListening = feed.onChange(({ state }, triggers) => {
    for (const name of channelsOf(state.stationId, state.profile.shortName)) publish(name, triggers)
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
    fanOut.close()
  }

  return {
    join: (transport, key) => {
      const session = openSession(transport, key)
      if (isDraining) endSession(session, 'shutdown')
      else sessions.add(session)
      return session
    },
    receive: (session, text) => guard(session, () => receive(session, text)),
    drained: session => guard(session, () => deliveries.release(session)),
    leave: session => {
      session.phase = 'ended'
      forget(session)
    },
    size: () => sessions.size,
    drain: async () => {
      isDraining = true
      close()
      let count = 0
      for (const session of sessions) {
        end(session, 'shutdown')
        if (++count % 500 === 0) await new Promise(resolve => setImmediate(resolve))
      }
    },
    close
  }
}

function entryOf(wish: Wish, snapshot: Snapshot): string {
  if (!wish.recover) return renderPositioned(snapshot)
  const isCurrent = wish.offset === snapshot.offset && wish.epoch === snapshot.epoch
  return isCurrent ? renderUpToDate(snapshot) : renderRecovered(snapshot)
}
