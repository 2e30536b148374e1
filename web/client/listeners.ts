import type { FollowerEvents, Snapshot } from './interface.ts'

type Listeners = {
  readonly [Name in keyof FollowerEvents]: Set<(event: FollowerEvents[Name]) => void>
}

/** Who wants to hear of what. One that throws keeps nobody else from hearing. */
export function openListeners() {
  const listeners: Listeners = {
    change: new Set(),
    song: new Set(),
    live: new Set(),
    air: new Set(),
    status: new Set()
  }

  function tell<Name extends keyof FollowerEvents>(name: Name, event: FollowerEvents[Name]): void {
    for (const listener of listeners[name])
      try {
        listener(event)
      } catch (error) {
        // As an event target does: reported, not thrown at whoever brought the news.
        queueMicrotask(() => {
          throw error
        })
      }
  }

  return {
    on<Name extends keyof FollowerEvents>(
      name: Name,
      listener: (event: FollowerEvents[Name]) => void
    ): () => void {
      listeners[name].add(listener)
      return () => void listeners[name].delete(listener)
    },
    /** Tells what is different between two snapshots. */
    compare(before: Snapshot, after: Snapshot): void {
      const { np, status, reason } = after
      if (np !== null && np !== before.np) {
        const isSong = np.now_playing.sh_id !== before.np?.now_playing.sh_id
        if (isSong) tell('song', { np, before: before.np })
        if (before.np !== null && liveKey(np) !== liveKey(before.np)) tell('live', { np })
        const isOnline = np.is_online
        if (before.np !== null && isOnline !== before.np.is_online) tell('air', { np, isOnline })
      }
      if (status !== before.status || reason !== before.reason) tell('status', { status, reason })
      if (
        np !== before.np ||
        status !== before.status ||
        reason !== before.reason ||
        after.via !== before.via
      )
        tell('change', after)
    }
  }
}

const liveKey = ({ live }: NonNullable<Snapshot['np']>) =>
  live.is_live ? `${live.streamer_name} ${live.broadcast_start}` : ''
