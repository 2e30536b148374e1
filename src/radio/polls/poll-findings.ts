import type { SourceReport } from '../../engine/listeners/count-listeners.ts'
import { parseMountPath } from '../icecast.ts'
import type { ServerStream } from '../server-stream.ts'
import type { LeasedPoll, PolledServer } from './poll-rows.ts'

/** What the response of a server means for a station. */
export interface PollFindings {
  readonly report: SourceReport
  readonly total: number
  /** The stream that shows what the station plays; null if the server does not carry it. */
  readonly observed: Pick<ServerStream, 'isConnected' | 'artist' | 'title'> | null
  /** The encoding of a remote that is connected. */
  readonly encoding: Pick<ServerStream, 'bitrate' | 'format'> | null
}

/** Finds the streams of a poll: one per mount or remote, null if the server does not have it. */
function matchStreams(poll: PolledServer, streams: readonly ServerStream[]): (ServerStream | null)[] {
  const { kind, url, mounts } = poll
  if (poll.remoteId !== null) return [findRemoteStream(kind, url, streams) ?? null]
  if (kind === 'icecast') return mounts.map(({ path }) => findMountStream(path, streams))
  // Shoutcast numbers its streams in the order of the mounts.
  return mounts.map((_, index) => streams.find(each => each.id === index + 1) ?? null)
}

/** Finds the stream of a mount. While it has no source, its listeners are on the mount of the standby. */
function findMountStream(path: string, streams: readonly ServerStream[]): ServerStream | null {
  const find = (wanted: string) => streams.find(stream => stream.path === wanted)
  return find(path) ?? find(`/standby${path}`) ?? null
}

/** Returns the streams that a poll is about. */
export function selectPolledStreams(poll: PolledServer, streams: readonly ServerStream[]): ServerStream[] {
  return matchStreams(poll, streams).filter(stream => stream !== null)
}

/**
 * Finds the stream behind a listener URL. Shoutcast URLs may hold the stream id: `/stream/2/`, `/?sid=2`. An Icecast
 * without a mount is its first stream.
 */
function findRemoteStream(
  kind: LeasedPoll['kind'],
  url: string,
  streams: readonly ServerStream[]
): ServerStream | undefined {
  const path = parseMountPath(url)
  const byPath = streams.find(stream => stream.path === path)
  if (byPath) return byPath
  if (kind === 'icecast') return path === '/' ? streams[0] : undefined
  const id = /[?&]sid=(\d+)|\/stream\/(\d+)/.exec(url)?.slice(1).find(Boolean) ?? '1'
  return streams.find(stream => stream.id === Number(id))
}

const disconnected = { isConnected: false, artist: '', title: '' }

/**
 * Interprets the streams of a server. A missing stream is not connected and has no listeners; so the list is
 * empty for a server that is no longer polled or has not responded for too long.
 */
export function interpretPolledStreams(poll: LeasedPoll, streams: readonly ServerStream[]): PollFindings {
  const found = matchStreams(poll, streams)
  const total = found.reduce((sum, stream) => sum + (stream?.total ?? 0), 0)
  if (poll.remoteId !== null) {
    const [stream = null] = found
    return {
      report: { mounts: [], remotes: [countListeners(poll.remoteId, stream)], hls: [] },
      total,
      observed: poll.isMainSource ? (stream ?? disconnected) : null,
      encoding: stream?.isConnected ? stream : null
    }
  }
  const mounts = poll.mounts.map(({ id }, index) => countListeners(id, found[index] ?? null))
  const main = found[poll.mounts.findIndex(({ isDefault }) => isDefault)]
  const connected = main?.isConnected ? main : found.find(stream => stream?.isConnected)
  const report = { mounts, remotes: [], hls: [] }
  return { report, total, observed: connected ?? disconnected, encoding: null }
}

function countListeners(id: number, stream: ServerStream | null) {
  if (!stream) return { id, total: 0, unique: 0, identities: [], connections: [] }
  const { total, unique, identities, connections } = stream
  return { id, total, unique, ...(identities && { identities }), ...(connections && { connections }) }
}
