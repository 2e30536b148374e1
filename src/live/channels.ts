import type { Session, Subscription } from './session.ts'

/** Everyone who listens to one name. Exists as long as somebody does. */
export interface Channel {
  readonly name: string
  readonly subscribers: Set<Subscription>
  /** When it has to be repeated, changed or not. */
  dueAtMs: number
}

export interface Channels {
  readonly get: (name: string) => Channel | undefined
  readonly all: () => Iterable<Channel>
  /** Adds a subscription and gives it; the session's former one to that name is gone. */
  readonly join: (session: Session, name: string, joinedAt: number) => Subscription
  /** Takes all subscriptions of a session away. */
  readonly leave: (session: Session) => void
}

/** `firstDueMs` says how long after its first subscriber a channel is due. */
export function openChannels(firstDueMs: () => number): Channels {
  const byName = new Map<string, Channel>()
  return {
    get: name => byName.get(name),
    all: () => byName.values(),
    join: (session, name, joinedAt) => {
      let channel = byName.get(name)
      if (channel === undefined) {
        channel = { name, subscribers: new Set(), dueAtMs: Date.now() + firstDueMs() }
        byName.set(name, channel)
      }
      const subscription = { session, channel: name, joinedAt, epoch: '', missed: new Set<never>() }
      channel.subscribers.add(subscription)
      session.subscriptions.set(name, subscription)
      return subscription
    },
    leave: session => {
      for (const subscription of session.subscriptions.values()) {
        const channel = byName.get(subscription.channel)
        channel?.subscribers.delete(subscription)
        if (channel?.subscribers.size === 0) byName.delete(channel.name)
      }
      session.subscriptions.clear()
      session.held.clear()
    }
  }
}
