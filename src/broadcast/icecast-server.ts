import { FetchFault } from '../webhooks/fetch-fault.ts'
import { parseIcecastListeners, parseIcecastStats } from './icecast-stats.ts'
import { parseIcecastStatus } from './icecast-status.ts'
import { withListeners, type Stream } from './stream.ts'
import {
  askPage,
  bodyOf,
  type ListenersAnswer,
  refusalOf,
  type ServerAnswer,
  type StreamingServer
} from './streaming-server.ts'

/**
 * Asks Icecast for all its streams: as its admin where there is a password that it accepts, else as anybody may. Throws
 * an `AnswerFault` or a `FetchFault`.
 */
export async function askIcecast(server: StreamingServer, signal: AbortSignal): Promise<ServerAnswer> {
  if (server.password === '') return askAsAnybody(server, signal, '')
  const answer = await askPage(server, 'admin/stats', { asAdmin: true, signal })
  if (answer.status !== 200) return askAsAnybody(server, signal, refusalOf(answer.status))
  return { streams: parseIcecastStats(answer.body), knowsListeners: true, problem: '' }
}

async function askAsAnybody(
  server: StreamingServer,
  signal: AbortSignal,
  problem: string
): Promise<ServerAnswer> {
  const answer = await askPage(server, 'status-json.xsl', { asAdmin: false, signal })
  return { streams: parseIcecastStatus(bodyOf(answer)), knowsListeners: false, problem }
}

/** Asks as the admin who listens to a stream. Throws an `AnswerFault` or a `FetchFault`. */
export async function askIcecastListeners(
  server: StreamingServer,
  stream: Stream,
  signal: AbortSignal
): Promise<ListenersAnswer> {
  const page = `admin/listclients?mount=${encodeURIComponent(stream.path)}`
  try {
    const answer = await askPage(server, page, { asAdmin: true, signal })
    // Its source has gone since.
    if (answer.status === 400 || answer.status === 404)
      return { stream: { ...withListeners(stream, []), isConnected: false }, problem: '' }
    return { stream: withListeners(stream, parseIcecastListeners(bodyOf(answer))), problem: '' }
  } catch (error) {
    if (!(error instanceof FetchFault && error.word === 'too_large')) throw error
    return { stream, problem: 'There are too many listeners to be told apart.' }
  }
}
