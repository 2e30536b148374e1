import { ownerOf } from '../outbound/networks.ts'

/** How many connections may be open at once. */
export interface AdmissionLimits {
  readonly total: number
  /** From one address; an IPv6 network of 64 bits counts as one. */
  readonly perAddress: number
}

/** The owner of the connections from an address: one object for all of them. */
export interface Owner {
  readonly name: string
  connections: number
}

/** Which limit is reached. */
export type ConnectionRefusal = 'total' | 'address'

/** Counts open connections: sockets, streams and long polls. */
export interface Admission {
  readonly enter: (address: string) => Owner | ConnectionRefusal
  /** Releases a connection; to be called once for each successful `enter`. */
  readonly leave: (owner: Owner) => void
  readonly size: () => number
}

export function openAdmission({ total, perAddress }: AdmissionLimits): Admission {
  const owners = new Map<string, Owner>()
  let size = 0
  return {
    size: () => size,
    enter: address => {
      if (size >= total) return 'total'
      const name = ownerOf(address)
      const owner = owners.get(name) ?? { name, connections: 0 }
      if (owner.connections >= perAddress) return 'address'
      owners.set(name, owner)
      owner.connections++
      size++
      return owner
    },
    leave: owner => {
      owner.connections--
      size--
      if (owner.connections === 0) owners.delete(owner.name)
    }
  }
}

/**
 * Returns a function that admits an address and returns the function that releases it, or null if a limit is
 * reached.
 */
export function admissionOf(admission: Admission): (address: string) => (() => void) | null {
  return address => {
    const owner = admission.enter(address)
    return typeof owner === 'string' ? null : () => admission.leave(owner)
  }
}
