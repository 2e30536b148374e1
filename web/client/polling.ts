import { type ConnectionOptions, type StartConnection, sendGetRequest } from './connection.ts'
import { isObject, type ServerMessage } from './message.ts'

/** How long the server may wait for a change before it responds. */
const waitSeconds = 10
/** Pause between polls if long polls are refused, or there is no such station. */
const pollIntervalMs = 10_000
/** An unchanged response that comes sooner did not wait: the server is stopping, or a proxy answered. */
const minWaitMs = 1_000
const timeoutMs = (waitSeconds + 10) * 1_000

/** Long-polls for documents that are newer than the known one. */
export const openPolling: StartConnection = options => {
  let isOpen = true
  /** Ends the current request or pause. */
  let cancel: (() => void) | undefined

  async function request(path: string): Promise<PollResponse> {
    const aborter = new AbortController()
    cancel = () => aborter.abort()
    const timer = setTimeout(cancel, timeoutMs)
    try {
      const response = await sendGetRequest(options, path, aborter.signal)
      const { status, headers } = response
      const body: unknown = status === 200 ? await response.json() : null
      return { status, headers, body }
    } finally {
      clearTimeout(timer)
    }
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      cancel = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function follow(): Promise<void> {
    await requestTime()
    const path = `api/nowplaying_static/${encodeURIComponent(options.station)}.json`
    let allowsLongPolls = true
    // The first request does not wait, so that it shows whether polling works.
    for (let isFirst = true; ; isFirst = false) {
      const position = options.position()
      const requestedMs = performance.now()
      const response = await request(path + renderQuery(position, allowsLongPolls && !isFirst))
      if (!isOpen) return
      const message = parseResponse(response)
      if (message !== null) options.onMessages([message])
      // Too many long polls are waiting.
      else if (response.status === 429) allowsLongPolls = false
      else return options.onEnd({ retryAfterMs: retryAfterMs(response) })
      const isEarly = performance.now() - requestedMs < minWaitMs && !isFirst && !isChange(message, position)
      if (!allowsLongPolls || message?.type === 'missing')
        await pause(retryAfterMs(response) || pollIntervalMs)
      else if (isEarly) await pause(minWaitMs)
      if (!isOpen) return
    }
  }

  /** A polled document of a song of unknown length does not contain the time. */
  async function requestTime(): Promise<void> {
    const { body } = await request('api/time')
    const seconds = isObject(body) ? body['timestamp'] : null
    if (!isOpen || typeof seconds !== 'number') return
    options.onMessages([{ type: 'time', timeMs: seconds * 1_000 }])
  }

  follow().catch(() => {
    if (isOpen) options.onEnd({})
  })
  return () => {
    isOpen = false
    cancel?.()
  }
}

interface PollResponse extends Pick<Response, 'status' | 'headers'> {
  /** The parsed body of a 200; otherwise null. */
  readonly body: unknown
}

type Position = ReturnType<ConnectionOptions['position']>

const isChange = (message: ServerMessage | null, position: Position) =>
  message?.type === 'publication' && (message.offset !== position?.offset || message.epoch !== position.epoch)

function renderQuery(position: Position, mayWait: boolean): string {
  if (position === null) return ''
  const { offset, epoch } = position
  const wait = mayWait ? waitSeconds : 0
  return `?${new URLSearchParams({ wait: String(wait), since: String(offset), epoch }).toString()}`
}

/** Null if the response is an error or is malformed. */
function parseResponse({ status, headers, body: np }: PollResponse): ServerMessage | null {
  if (status === 304) return { type: 'unchanged' }
  if (status === 404) return { type: 'missing', timeMs: null }
  const offset = Number(headers.get('x-cuewire-offset') ?? NaN)
  if (status !== 200 || !Number.isSafeInteger(offset)) return null
  const epoch = headers.get('x-cuewire-epoch') ?? ''
  return { type: 'publication', data: { np }, isDelta: false, offset, epoch }
}

/** 0 if the header is missing. */
const retryAfterMs = ({ headers }: PollResponse) => Number(headers.get('retry-after') ?? 0) * 1_000 || 0
