import { sealingPurpose } from '../../fields/field.ts'
import { toNetworkList } from '../../outbound/networks.ts'
import type { Secrets } from '../../security/secrets.ts'
import { StreamingServerError } from '../stream.ts'
import type { LeasedPoll } from './poll-rows.ts'

/**
 * Private networks in which the servers of stations may be: administrators set their addresses. Not those of
 * remotes, and no link-local, shared or private IPv6 networks, in which clouds serve instance metadata.
 */
const privateNetworks = ['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/** The private networks in which streaming servers may be. `alsoAllowed` is `WEBHOOK_ALLOWED_NETWORKS`. */
export const allowedNetworks = (alsoAllowed: readonly string[]) => ({
  station: toNetworkList([...privateNetworks, ...alsoAllowed]),
  remote: toNetworkList(alsoAllowed)
})

/**
 * Returns the address and the opened password of a server. A remote's URL is a stream; its server is at the root.
 * Throws `StreamingServerError`.
 */
export function openServer(
  { remoteId, url, password }: Pick<LeasedPoll, 'remoteId' | 'url' | 'password'>,
  secrets: Pick<Secrets, 'open'>
): { readonly url: string; readonly password: string } {
  const [address, purpose] =
    remoteId === null
      ? [url, sealingPurpose('stations', 'frontend_admin_password')]
      : [new URL(url).origin, sealingPurpose('remotes', 'admin_password')]
  try {
    return { url: address, password: password === '' ? '' : secrets.open(password, purpose) }
  } catch {
    throw new StreamingServerError('The stored password cannot be decrypted: enter it again.')
  }
}
