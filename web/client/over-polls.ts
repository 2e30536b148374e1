import { headersOf, type Way, type Wish } from './connection.ts'
import { isObject } from './merge-patch.ts'
import type { Message } from './message.ts'

/** The server answers when there is news, or after so long. */
const waitSeconds = 10
/** The pause where the server does not let us wait, or has no such station. */
const pauseMs = 10_000
/** An answer that has not come by then will not come. */
const patienceMs = (waitSeconds + 10) * 1_000

/** Follows by asking again and again, each time for what is newer than what is known. */
export const overPolls: Way = (wish, { fetch }) => {
  const aborter = new AbortController()
  const { signal } = aborter

  async function ask(path: string): Promise<Response> {
    if (fetch === undefined) throw new Error('there is no fetch')
    const url = new URL(path, wish.server)
    const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
    return fetch(url.href, { headers: headersOf(wish), signal: patience, cache: 'no-store' })
  }

  async function follow(): Promise<void> {
    await askTime()
    const path = `api/nowplaying_static/${encodeURIComponent(wish.station)}.json`
    let mayWait = true
    // The first answer comes at once, and shows that there is one.
    for (let isFirst = true; ; isFirst = false) {
      const answer = await ask(path + query(wish, mayWait && !isFirst))
      if (signal.aborted) return
      if (answer.status === 429) {
        // Too many wait already: those who come now ask from time to time.
        mayWait = false
        await pause(retryAfterMs(answer) || pauseMs, signal)
        continue
      }
      const message = await readAnswer(answer)
      if (signal.aborted) return
      if (message === null) return wish.onEnd({ retryAfterMs: retryAfterMs(answer) })
      wish.onMessages([message])
      if (!mayWait || message.type === 'missing') await pause(pauseMs, signal)
      if (signal.aborted) return
    }
  }

  /** A document tells no time while a song of unknown length plays. */
  async function askTime(): Promise<void> {
    const answer = await ask('api/time')
    const body: unknown = await answer.json()
    const seconds = isObject(body) ? body['timestamp'] : null
    if (signal.aborted || typeof seconds !== 'number') return
    wish.onMessages([{ type: 'timed', timeMs: seconds * 1_000 }])
  }

  follow().catch(() => {
    if (!signal.aborted) wish.onEnd({})
  })
  return () => aborter.abort()
}

function query({ position }: Wish, mayWait: boolean): string {
  const known = position()
  if (known === null) return ''
  const { offset, epoch } = known
  const wait = mayWait ? waitSeconds : 0
  return `?${new URLSearchParams({ wait: String(wait), since: String(offset), epoch }).toString()}`
}

/** Null where the answer cannot be understood. */
async function readAnswer(answer: Response): Promise<Message | null> {
  if (answer.status === 304) return { type: 'confirmed' }
  if (answer.status === 404) return { type: 'missing', timeMs: null }
  const offset = Number(answer.headers.get('x-cuewire-offset') ?? NaN)
  if (answer.status !== 200 || !Number.isSafeInteger(offset)) return null
  const np: unknown = await answer.json()
  const epoch = answer.headers.get('x-cuewire-epoch') ?? ''
  return { type: 'published', data: { np }, isPatch: false, offset, epoch }
}

const retryAfterMs = (answer: Response) => Number(answer.headers.get('retry-after') ?? 0) * 1_000 || 0

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
