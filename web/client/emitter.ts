import type { FollowerEvents, Snapshot } from './interface.ts'

type Listeners = {
  readonly [Name in keyof FollowerEvents]: Set<(event: FollowerEvents[Name]) => void>
}

/** The event listeners of a follower. A listener that throws does not affect the others. */
export function openEmitter() {
  const listeners: Listeners = {
    change: new Set(),
    song: new Set(),
    live: new Set(),
    air: new Set(),
    status: new Set()
  }

  function emit<Name extends keyof FollowerEvents>(name: Name, event: FollowerEvents[Name]): void {
    for (const listener of listeners[name])
      try {
        listener(event)
      } catch (error) {
        // Reported as uncaught, as by an event target.
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
    /** Emits the events for the differences between two snapshots. */
    emitChanges({ np: oldNp, ...before }: Snapshot, after: Snapshot): void {
      const { np, status, reason } = after
      const isNewStatus = status !== before.status || reason !== before.reason
      if (np !== null && np !== oldNp) {
        if (np.now_playing.sh_id !== oldNp?.now_playing.sh_id) emit('song', { np, before: oldNp })
        if (oldNp !== null && liveKey(np) !== liveKey(oldNp)) emit('live', { np })
        const { is_online: isOnline } = np
        if (oldNp !== null && isOnline !== oldNp.is_online) emit('air', { np, isOnline })
      }
      if (isNewStatus) emit('status', { status, reason })
      if (isNewStatus || np !== oldNp || after.via !== before.via) emit('change', after)
    }
  }
}

const liveKey = ({ live }: NonNullable<Snapshot['np']>) =>
  live.is_live ? `${live.streamer_name} ${live.broadcast_start}` : ''
