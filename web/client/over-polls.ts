import { headersOf, type Way, type Wish } from './connection.ts'
import { isObject, type Message } from './message.ts'

/** The server answers when there is news, or after so long. */
const waitSeconds = 10
/** The pause where the server does not let us wait, or has no such station. */
const pauseMs = 10_000
/** Who has no news sooner does not let us wait: a server that stops, or something on the way. */
const hurryMs = 1_000
/** An answer that has not come by then will not come. */
const timeoutMs = (waitSeconds + 10) * 1_000

/** Follows by asking again and again, each time for what is newer than what is known. */
export const overPolls: Way = (wish, { fetch }) => {
  let isOpen = true
  /** Ends what is being waited for. */
  let cut: () => void = nothing

  async function ask(path: string): Promise<Answer> {
    if (fetch === undefined) throw new Error('there is no fetch')
    const aborter = new AbortController()
    cut = () => aborter.abort()
    const timer = setTimeout(cut, timeoutMs)
    try {
      const url = new URL(path, wish.server)
      const { signal } = aborter
      const answer = await fetch(url.href, { headers: headersOf(wish), signal, cache: 'no-store' })
      const { status, headers } = answer
      const body: unknown = status === 200 ? await answer.json() : null
      return { status, headers, body }
    } finally {
      clearTimeout(timer)
    }
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      cut = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function follow(): Promise<void> {
    await askTime()
    const path = `api/nowplaying_static/${encodeURIComponent(wish.station)}.json`
    let mayWait = true
    // The first answer comes at once, and shows that there is one.
    for (let isFirst = true; ; isFirst = false) {
      const before = wish.position()
      const askedMs = performance.now()
      const answer = await ask(path + query(before, mayWait && !isFirst))
      if (!isOpen) return
      const message = readAnswer(answer)
      if (message !== null) wish.onMessages([message])
      // Too many wait already: those who come now ask from time to time.
      else if (answer.status === 429) mayWait = false
      else return wish.onEnd({ retryAfterMs: retryAfterMs(answer) })
      const isHurried = performance.now() - askedMs < hurryMs && !isFirst && !isNews(message, before)
      if (!mayWait || message?.type === 'missing') await pause(retryAfterMs(answer) || pauseMs)
      else if (isHurried) await pause(hurryMs)
      if (!isOpen) return
    }
  }

  /** A document tells no time while a song of unknown length plays. */
  async function askTime(): Promise<void> {
    const { body } = await ask('api/time')
    const seconds = isObject(body) ? body['timestamp'] : null
    if (!isOpen || typeof seconds !== 'number') return
    wish.onMessages([{ type: 'timed', timeMs: seconds * 1_000 }])
  }

  follow().catch(() => {
    if (isOpen) wish.onEnd({})
  })
  return () => {
    isOpen = false
    cut()
  }
}

const nothing = () => {}

interface Answer extends Pick<Response, 'status' | 'headers'> {
  /** What a 200 says. */
  readonly body: unknown
}

type Known = ReturnType<Wish['position']>

/** Whether it says more than what was known. */
const isNews = (message: Message | null, known: Known) =>
  message?.type === 'published' && (message.offset !== known?.offset || message.epoch !== known.epoch)

function query(known: Known, mayWait: boolean): string {
  if (known === null) return ''
  const { offset, epoch } = known
  const wait = mayWait ? waitSeconds : 0
  return `?${new URLSearchParams({ wait: String(wait), since: String(offset), epoch }).toString()}`
}

/** Null where the answer cannot be understood. */
function readAnswer({ status, headers, body: np }: Answer): Message | null {
  if (status === 304) return { type: 'confirmed' }
  if (status === 404) return { type: 'missing', timeMs: null }
  const offset = Number(headers.get('x-cuewire-offset') ?? NaN)
  if (status !== 200 || !Number.isSafeInteger(offset)) return null
  const epoch = headers.get('x-cuewire-epoch') ?? ''
  return { type: 'published', data: { np }, isPatch: false, offset, epoch }
}

const retryAfterMs = ({ headers }: Answer) => Number(headers.get('retry-after') ?? 0) * 1_000 || 0
