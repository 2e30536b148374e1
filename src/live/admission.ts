import { ownerOf } from '../outbound/networks.ts'

/** How many connections stay open at once. */
export interface AdmissionLimits {
  readonly total: number
  /** From one address; an IPv6 network of 64 bits counts as one. */
  readonly perAddress: number
}

/** Whoever the connections from an address belong to: one object for all of them. */
export interface Owner {
  readonly name: string
  connections: number
}

/** Why there is no place: everybody's are taken, or those of this address. */
export type ConnectionRefusal = 'total' | 'address'

/** Counts connections that stay open: sockets, streams and long polls. */
export interface Admission {
  readonly enter: (address: string) => Owner | ConnectionRefusal
  /** Gives a place back; to be called once for each `enter`. */
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

/** A place as a function that gives it back, once; null: there is none. */
export function placeIn(admission: Admission): (address: string) => (() => void) | null {
  return address => {
    const owner = admission.enter(address)
    return typeof owner === 'string' ? null : () => admission.leave(owner)
  }
}
