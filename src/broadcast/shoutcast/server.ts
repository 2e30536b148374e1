import { type Stream, withListeners } from '../stream.ts'
import {
  askPage,
  bodyOf,
  type ListenersAnswer,
  refusalOf,
  type ServerAnswer,
  type StreamingServer
} from '../streaming-server.ts'
import { parseShoutcastListeners, parseShoutcastStatistics } from './shoutcast.ts'

/** Asks Shoutcast 2 for all its streams. Throws an `AnswerFault` or a `FetchFault`. */
export async function askShoutcast(server: StreamingServer, signal: AbortSignal): Promise<ServerAnswer> {
  const answer = await askPage(server, 'statistics?json=1', { asAdmin: false, signal })
  const streams = parseShoutcastStatistics(bodyOf(answer))
  return { streams, knowsListeners: server.password !== '', problem: '' }
}

/** Asks as the admin who listens to a stream. Throws an `AnswerFault` or a `FetchFault`. */
export async function askShoutcastListeners(
  server: StreamingServer,
  stream: Stream,
  signal: AbortSignal
): Promise<ListenersAnswer> {
  const page = `admin.cgi?sid=${stream.id}&mode=viewjson&page=3`
  const { status, body } = await askPage(server, page, { asAdmin: true, signal })
  if (status !== 200) return { stream, problem: refusalOf(status) }
  return { stream: withListeners(stream, parseShoutcastListeners(body)), problem: '' }
}
