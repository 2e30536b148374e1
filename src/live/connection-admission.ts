import { refusalsMetric } from '../platform/metrics/push.ts'
import { addressLimitKeyOf } from '../platform/outbound/networks.ts'
import type { Followers } from './followers.ts'
import type { ConnectionOwner } from './session.ts'

/** Which limit is reached. */
export type ConnectionRefusal = 'total' | 'address'

/** Counts open connections: sockets, streams and long polls. */
export type ConnectionAdmission = ReturnType<typeof openConnectionAdmission>

/** `perAddress`: the limit for one address; an IPv6 network of 64 bits counts as one. */
export function openConnectionAdmission({ total, perAddress }: { total: number; perAddress: number }) {
  const owners = new Map<string, ConnectionOwner>()
  let size = 0
  return {
    size: () => size,
    enter: (address: string): ConnectionOwner | ConnectionRefusal => {
      if (size >= total) return refuse('total')
      const name = addressLimitKeyOf(address)
      const owner = owners.get(name) ?? { name, connections: 0 }
      if (owner.connections >= perAddress) return refuse('address')
      owners.set(name, owner)
      owner.connections++
      size++
      return owner
    },
    /** Releases a connection; to be called once for each successful `enter`. */
    leave: (owner: ConnectionOwner) => {
      owner.connections--
      size--
      if (owner.connections === 0) owners.delete(owner.name)
    }
  }
}

function refuse(limit: ConnectionRefusal): ConnectionRefusal {
  refusalsMetric[limit]++
  return limit
}

/** Returns a function that admits long polls: it returns a function that releases one, or null at a limit. */
export function openLongPollAdmission(
  admission: ConnectionAdmission,
  followers: Pick<Followers, 'admitLongPoll'>
) {
  return (address: string, stationId: number): (() => void) | null => {
    const owner = admission.enter(address)
    if (typeof owner === 'string') return null
    const stopFollowing = followers.admitLongPoll(stationId)
    if (stopFollowing === null) {
      admission.leave(owner)
      return null
    }
    return () => {
      stopFollowing()
      admission.leave(owner)
    }
  }
}
