import type { Trigger } from '../model/station/triggers.ts'
import { subscriptionsMetric as counted } from '../platform/metrics/push.ts'
import type { LiveStation } from './feed/live-station.ts'
import type { SubscriptionRequest } from './protocol.ts'
import type { Channel, LiveSession, Subscription } from './session.ts'

export type Channels = ReturnType<typeof openChannels>

/** Calls `onOpen` for every new channel. */
export function openChannels(onOpen: (channel: Channel) => void) {
  const byName = new Map<string, Channel[]>()
  const open = new Set<Channel>()
  const none: readonly Channel[] = []

  const find = (name: string, delayMs: number, heartbeatMs: number) =>
    byName.get(name)?.find(each => each.delayMs === delayMs && each.heartbeatMs === heartbeatMs)

  function openChannel(name: string, delayMs: number, heartbeatMs: number): Channel {
    const channel = {
      name,
      delayMs,
      heartbeatMs,
      isStale: false,
      subscribers: new Set<never>(),
      dueAtMs: 0,
      revision: 0,
      shown: null,
      postponed: [],
      repeated: null
    }
    const siblings = byName.get(name)
    if (siblings === undefined) byName.set(name, [channel])
    else siblings.push(channel)
    open.add(channel)
    onOpen(channel)
    return channel
  }

  function close(channel: Channel): void {
    open.delete(channel)
    const siblings = byName.get(channel.name)?.filter(each => each !== channel) ?? []
    if (siblings.length === 0) byName.delete(channel.name)
    else byName.set(channel.name, siblings)
  }

  function remove(subscriptions: readonly Subscription[]): void {
    for (const subscription of subscriptions) {
      const { channel } = subscription
      channel.subscribers.delete(subscription)
      counted[formOf(subscription)]--
      if (channel.subscribers.size === 0) close(channel)
    }
  }

  function add(session: LiveSession, request: SubscriptionRequest, joinedAt: number): Subscription {
    const { channel: name, heartbeatMs } = request
    const { delayMs } = session
    const channel = find(name, delayMs, heartbeatMs) ?? openChannel(name, delayMs, heartbeatMs)
    const before = session.subscriptions.find(each => each.channel.name === name)
    const subscription: Subscription = {
      session,
      channel,
      joinedAt,
      epoch: before?.epoch ?? '',
      offset: before?.offset ?? 0,
      base: null,
      isDelta: request.delta,
      missedTriggers: null
    }
    channel.subscribers.add(subscription)
    counted[formOf(subscription)]++
    return subscription
  }

  return {
    /** The channels of a name: one for each combination of delay and heartbeat interval that is in use. */
    named: (name: string) => byName.get(name) ?? none,
    all: (): Iterable<Channel> => open,
    /** Replaces the subscriptions of a session. Channels that stay keep the position of the client. */
    subscribe: (session: LiveSession, requests: readonly SubscriptionRequest[], joinedAt: number) => {
      const before = session.subscriptions
      session.subscriptions = requests.map(request => add(session, request, joinedAt))
      session.heldBack = null
      remove(before)
    },
    leave: (session: LiveSession) => {
      remove(session.subscriptions)
      session.subscriptions = []
      session.heldBack = null
    }
  }
}

/** What a subscription gets, for metrics. */
const formOf = ({ isDelta }: Subscription) => (isDelta ? 'delta' : 'full')

/** Changes that may wait in a channel; beyond that, the newest replaces the last. */
const postponedAtMost = 256

/** Adds a change to a delayed channel. Returns true if it has to be shown now: the epoch is new. */
export function delayPublication(
  channel: Channel,
  station: LiveStation,
  triggers: readonly Trigger[],
  nowMs: number
): boolean {
  const { postponed, shown } = channel
  if (shown === null || shown.epoch !== station.epoch) {
    postponed.length = 0
    channel.shown = station
    return true
  }
  const last = postponed.length >= postponedAtMost ? postponed.pop() : undefined
  postponed.push({
    station,
    triggers: new Set([...(last?.triggers ?? []), ...triggers]),
    dueAtMs: last?.dueAtMs ?? nowMs + channel.delayMs
  })
  return false
}

/** Applies every change that is due. Returns the triggers of the new state; null if nothing changed. */
export function applyDuePublications(channel: Channel, nowMs: number): ReadonlySet<Trigger> | null {
  const { postponed } = channel
  const count = postponed.findIndex(({ dueAtMs }) => dueAtMs > nowMs)
  const due = postponed.splice(0, count === -1 ? postponed.length : count)
  const newest = due.at(-1)
  if (newest === undefined) return null
  channel.shown = newest.station
  return new Set(due.flatMap(({ triggers }) => [...triggers]))
}
