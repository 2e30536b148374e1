import { sealingPurpose } from '../../model/fields/field.ts'
import { FetchFault } from '../../platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../platform/outbound/networks.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { type ServerStream, StreamingServerError } from '../server-stream.ts'
import { selectPolledStreams } from './poll-findings.ts'
import type { PolledServer } from './poll-rows.ts'

/**
 * Private networks in which the servers of stations may be: administrators set their addresses. Not those of
 * remotes, and no link-local, shared or private IPv6 networks, in which clouds serve instance metadata.
 */
const privateNetworks = ['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/** The private networks in which streaming servers may be. `alsoAllowed` is `WEBHOOK_ALLOWED_NETWORKS`. */
export const allowedServerNetworks = (alsoAllowed: readonly string[]) => ({
  station: toNetworkList([...privateNetworks, ...alsoAllowed]),
  remote: toNetworkList(alsoAllowed)
})

interface OpenedServer {
  readonly url: string
  readonly password: string
}

/** Fetches those of a server's streams that `select` returns, which are a part of its argument. */
type FetchFromServer<Found> = (
  server: OpenedServer,
  select: (streams: readonly ServerStream[]) => readonly ServerStream[]
) => Promise<Found>

/**
 * Fetches the streams that a poll is about. A remote's URL is a stream: its server is at the root, or below a folder of
 * the path, which a proxy removes. The streams of such a server are returned with that folder. Throws
 * `StreamingServerError`.
 */
export async function fetchFromServer<
  Found extends { readonly streams: readonly { readonly path: string }[] }
>(polled: PolledServer, secrets: Pick<Secrets, 'open'>, fetchFrom: FetchFromServer<Found>): Promise<Found> {
  const password = openPassword(polled, secrets)
  let first: Found | undefined
  let problem: StreamingServerError | FetchFault | undefined
  for (const { url, folder } of findPlaces(polled)) {
    const inFolder = <Named extends { readonly path: string }>(stream: Named) =>
      folder === '' ? stream : { ...stream, path: folder + stream.path }
    const select = (streams: readonly ServerStream[]) => {
      const originals = new Map(streams.map(stream => [inFolder(stream), stream]))
      return selectPolledStreams(polled, [...originals.keys()]).map(stream => originals.get(stream) ?? stream)
    }
    try {
      const found = await fetchFrom({ url, password }, select)
      if (found.streams.length > 0) return { ...found, streams: found.streams.map(inFolder) }
      first ??= found
    } catch (error) {
      const isElsewhere =
        error instanceof StreamingServerError || (error instanceof FetchFault && error.word === 'redirect')
      if (!isElsewhere) throw error
      problem ??= error
    }
  }
  if (first) return first
  throw problem ?? new StreamingServerError('The address is not that of a stream.')
}

const maxFolders = 2

/** Where the server of a poll may be. Without folders in the path, there is one place. */
function findPlaces({ remoteId, url }: PolledServer): readonly { url: string; folder: string }[] {
  if (remoteId === null) return [{ url, folder: '' }]
  const { origin, pathname } = new URL(url)
  const names = pathname.split('/').slice(1, -1).slice(0, maxFolders)
  const folders = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return ['', ...folders].map(folder => ({ url: origin + folder, folder }))
}

function openPassword({ remoteId, password }: PolledServer, secrets: Pick<Secrets, 'open'>): string {
  const purpose =
    remoteId === null
      ? sealingPurpose('stations', 'frontend_admin_password')
      : sealingPurpose('remotes', 'admin_password')
  try {
    return password === '' ? '' : secrets.open(password, purpose)
  } catch {
    throw new StreamingServerError('The stored password cannot be decrypted: enter it again.')
  }
}
