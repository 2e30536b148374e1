import type { BlockList } from 'node:net'

import { askIcecast, askIcecastListeners } from './icecast/icecast.ts'
import { askShoutcast, askShoutcastListeners } from './shoutcast/server.ts'
import { type Stream, withListeners } from './stream.ts'
import type { ServerAnswer, StreamingServer } from './streaming-server.ts'

/**
 * Streams of a server, with those who listen to them where it tells, and a sentence on what it refused to
 * tell.
 */
export interface Answered {
  readonly streams: readonly Stream[]
  readonly problem: string
}

/**
 * Gives those of a server's streams that are meant, as they are at this time (Unix milliseconds). Throws an
 * `AnswerFault` or a `FetchFault`.
 */
export type AskServer = (
  place: Omit<StreamingServer, 'allowed'>,
  meant: (streams: readonly Stream[]) => readonly Stream[],
  at: { readonly nowMs: number; readonly signal: AbortSignal }
) => Promise<Answered>

/**
 * Stations on one server come to be asked at nearly the same time, and then one question answers them all.
 */
const freshMs = 2_000

const askServer = { icecast: askIcecast, shoutcast2: askShoutcast }
const askListeners = { icecast: askIcecastListeners, shoutcast2: askShoutcastListeners }

/**
 * Opens the asking of servers, which may be in these private networks. What a server says of its streams is
 * kept for two seconds: whoever asks the same meanwhile gets the same.
 */
export function openAnswers(allowed: BlockList): AskServer {
  /** Oldest first. */
  const known = new Map<string, { readonly atMs: number; readonly answer: Promise<ServerAnswer> }>()

  function askOnce(server: StreamingServer, nowMs: number, signal: AbortSignal): Promise<ServerAnswer> {
    for (const [key, { atMs }] of known) {
      if (nowMs - atMs < freshMs) break
      known.delete(key)
    }
    const key = JSON.stringify([server.kind, server.url, server.password])
    const found = known.get(key)
    if (found) return found.answer
    const asked = { atMs: nowMs, answer: askServer[server.kind](server, signal) }
    known.set(key, asked)
    asked.answer.catch(() => {
      if (known.get(key) === asked) known.delete(key)
    })
    return asked.answer
  }

  return async (place, meant, { nowMs, signal }) => {
    const server = { ...place, allowed }
    const answer = await askOnce(server, nowMs, signal)
    const streams: Stream[] = []
    const problems = new Set([answer.problem])
    for (const stream of meant(answer.streams)) {
      if (!answer.knowsListeners) streams.push(stream)
      else if (stream.total === 0) streams.push(withListeners(stream, []))
      else {
        const heard = await askListeners[server.kind](server, stream, signal)
        streams.push(heard.stream)
        problems.add(heard.problem)
      }
    }
    return { streams, problem: [...problems].filter(text => text !== '').join(' ') }
  }
}
