import type { SourceReport } from '../../playout/listeners/sources.ts'
import { pathOf } from '../icecast/icecast.ts'
import type { Stream } from '../stream.ts'
import type { ClaimedPoll } from './poll-rows.ts'

/** What an answer says of a station. */
export interface Findings {
  readonly report: SourceReport
  readonly total: number
  /** What is heard there; null where the answer says nothing of what the station sends. */
  readonly seen: Pick<Stream, 'isConnected' | 'artist' | 'title'> | null
  /** Of a remote: how it sounds. */
  readonly sound: Pick<Stream, 'bitrate' | 'format'> | null
}

/** The streams that a poll is about, by their order: for each mount the stream it is, else null. */
function streamsOf(poll: ClaimedPoll, streams: readonly Stream[]): (Stream | null)[] {
  const { kind, url, mounts } = poll
  if (poll.remoteId !== null) return [remoteStream(kind, url, streams) ?? null]
  if (kind === 'icecast') return mounts.map(({ path }) => streams.find(each => each.path === path) ?? null)
  // Shoutcast's streams are numbered in the order of the mounts.
  return mounts.map((_, index) => streams.find(each => each.id === index + 1) ?? null)
}

/** The streams that a poll is about. */
export function meantStreams(poll: ClaimedPoll, streams: readonly Stream[]): Stream[] {
  return streamsOf(poll, streams).filter(stream => stream !== null)
}

/**
 * The stream behind the address that listeners use. Shoutcast's may be named by number: `/stream/2/`,
 * `/?sid=2`.
 */
function remoteStream(
  kind: ClaimedPoll['kind'],
  url: string,
  streams: readonly Stream[]
): Stream | undefined {
  const path = pathOf(url)
  const byPath = streams.find(stream => stream.path === path)
  if (kind === 'icecast' || byPath) return byPath
  const id = /[?&]sid=(\d+)|\/stream\/(\d+)/.exec(url)?.slice(1).find(Boolean) ?? '1'
  return streams.find(stream => stream.id === Number(id))
}

const silent = { isConnected: false, artist: '', title: '' }
const nobody = { total: 0, unique: 0, identities: [] }

/**
 * What these streams say. A stream that the server does not have is not connected, and nobody listens to it.
 */
export function findingsOf(poll: ClaimedPoll, streams: readonly Stream[]): Findings {
  const found = streamsOf(poll, streams)
  const total = found.reduce((sum, stream) => sum + (stream?.total ?? 0), 0)
  if (poll.remoteId !== null) {
    const [stream = null] = found
    const report = { mounts: [], remotes: [countOf(poll.remoteId, stream)], hls: [] }
    return {
      report,
      total,
      seen: poll.isHeard ? (stream ?? silent) : null,
      sound: stream?.isConnected ? stream : null
    }
  }
  const mounts = poll.mounts.map(({ id }, index) => countOf(id, found[index] ?? null))
  const main = found[poll.mounts.findIndex(({ isDefault }) => isDefault)]
  const heard = main?.isConnected ? main : found.find(stream => stream?.isConnected)
  return { report: { mounts, remotes: [], hls: [] }, total, seen: heard ?? silent, sound: null }
}

function countOf(id: number, stream: Stream | null) {
  if (!stream) return { id, ...nobody }
  const { total, unique, identities } = stream
  return { id, total, unique, ...(identities && { identities }) }
}

/** What holds once a server is asked no more, or has not answered for too long: nobody listens. */
export const noFindings = (poll: ClaimedPoll): Findings => findingsOf(poll, [])
