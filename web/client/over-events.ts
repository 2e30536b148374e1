import { channelOf, headersOf, subscription, type Way } from './connection.ts'
import { readFrame } from './message.ts'

/**
 * Follows over server-sent events. They are read with `fetch`, which Node has as well, and which can send a key in a
 * header, so that it stands in no log.
 */
export const overEvents: Way = (wish, { fetch }) => {
  const aborter = new AbortController()
  const { signal } = aborter
  const url = new URL('api/live/nowplaying/sse', wish.server)
  // The key is in a header.
  url.searchParams.set('cf_connect', subscription({ ...wish, apiKey: '' }))

  async function follow(): Promise<void> {
    const answer = await fetch?.(url.href, { headers: headersOf(wish), signal, cache: 'no-store' })
    const isStream = answer?.headers.get('content-type')?.startsWith('text/event-stream')
    if (!answer?.ok || !isStream || answer.body === null) return
    const decoder = new TextDecoder()
    const reader = answer.body.getReader()
    const takeLines = openLines()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      for (const line of takeLines(decoder.decode(value, { stream: true }))) {
        if (signal.aborted || !line.startsWith('data:')) continue
        wish.onMessages(readFrame(line.slice('data:'.length), channelOf(wish)))
      }
    }
  }

  follow()
    .catch(() => {})
    .finally(() => {
      if (!signal.aborted) wish.onEnd({})
    })
  return () => aborter.abort()
}

/** Joins pieces of text and gives the lines that are whole. */
export function openLines(): (piece: string) => readonly string[] {
  let rest = ''
  return piece => {
    const lines = (rest + piece).split(/\r?\n/)
    rest = lines.pop() ?? ''
    return lines
  }
}
