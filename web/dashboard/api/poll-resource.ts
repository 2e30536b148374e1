import type { ReactiveControllerHost } from 'lit'

import { type ApiRequestError, toApiRequestError } from './api-error.ts'
import { requestJson, sessionResumedEvent } from './call-api.ts'
import type { ApiResponse } from './typed-response.ts'

export interface PollOptions<Path extends string, Value> {
  /**
   * The path to read, `api/stats`, or null to read nothing. Evaluated at every update of the host. If only
   * the query changes, the old value stays until the response arrives.
   */
  readonly path: () => Path | null
  /** The time between polls while the page is visible. */
  readonly intervalMs: number
  /** A change of this value triggers a refresh. Evaluated at every update of the host. */
  readonly refreshKey?: () => unknown
  /** The value before the first response. */
  readonly initialValue?: NoInfer<Value> | null
  readonly timeoutMs?: number | undefined
}

/** A resource of the API that an element polls. */
export interface PolledResource<Value> {
  /** The last response; null before the first one. */
  readonly value: Value | null
  /** When `value` was read, by `Date.now()`. */
  readonly readAtMs: number
  /** The error of the last attempt; null if it succeeded. */
  readonly error: ApiRequestError | null
  /** Reads the resource now. Never rejects. */
  readonly refresh: () => Promise<void>
}

/** Changes of the refresh key are debounced by this time. */
const debounceMs = 250
/** Effects of a change may follow late: the resource is read once more after this time. */
const secondReadMs = 2_000
const retryMs = 8_000
/** When the page becomes visible, older values are read again. */
const freshMs = 2_000

/**
 * Polls a resource while the host is connected and the page is visible. The host is updated after every
 * attempt. After an error the last value stays; after a 403 polling stops until the path changes, or until
 * somebody signs in if the request was not signed in.
 */
export function pollResource<Path extends string, Value = ApiResponse<'GET', Path>>(
  host: ReactiveControllerHost,
  { intervalMs, initialValue = null, timeoutMs, ...options }: PollOptions<Path, Value>
): PolledResource<Value> {
  const resource: {
    value: Value | null
    readAtMs: number
    error: ApiRequestError | null
    readonly refresh: () => Promise<void>
  } = { value: initialValue, readAtMs: initialValue === null ? 0 : Date.now(), error: null, refresh: read }
  let path: Path | null = null
  let refreshKey: unknown
  let aborter = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let needsSecondRead = false
  /** Whether a poll fell due while the page was hidden. */
  let isDue = false

  async function read(): Promise<void> {
    stop()
    isDue = false
    if (path === null) return
    aborter = new AbortController()
    const { signal } = aborter
    try {
      const value = await requestJson<Value>('GET', path, { signal, timeoutMs })
      if (signal.aborted) return
      resource.value = value
      resource.readAtMs = Date.now()
      resource.error = null
    } catch (thrown) {
      if (signal.aborted) return
      resource.error = toApiRequestError(thrown)
    }
    if (resource.error?.status !== 403) schedule(nextDelayMs())
    needsSecondRead = false
    host.requestUpdate()
  }

  function nextDelayMs(): number {
    const delayMs = needsSecondRead ? secondReadMs : intervalMs
    return resource.error === null ? delayMs : Math.min(delayMs, retryMs * (0.75 + Math.random() / 2))
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (document.hidden) isDue = true
      else void read()
    }, delayMs)
  }

  function stop(): void {
    clearTimeout(timer)
    aborter.abort()
  }

  function readUnlessForbidden(): void {
    if (resource.error?.status !== 403) void read()
  }

  function onVisibilityChange(): void {
    if (!document.hidden && (isDue || Date.now() - resource.readAtMs > freshMs)) readUnlessForbidden()
  }

  function onSessionResumed(): void {
    if (resource.error?.isUnauthenticated === true) void read()
  }

  /** An unavailable server is shown at once, without waiting for the timeout of a request. */
  function onAvailability({ detail: isAvailable }: CustomEvent<boolean>): void {
    if (isAvailable) return readUnlessForbidden()
    if (path === null || resource.error?.status === 403) return
    resource.error = toApiRequestError(null)
    host.requestUpdate()
  }

  function changePath(next: Path | null): void {
    // An initial value belongs to the first path.
    if (path !== null && next?.split('?')[0] !== path.split('?')[0]) resource.value = null
    path = next
    resource.error = null
    refreshKey = options.refreshKey?.()
    void read()
  }

  host.addController({
    hostConnected: () => {
      document.addEventListener('visibilitychange', onVisibilityChange)
      document.addEventListener(serverAvailabilityEvent, onAvailability)
      document.addEventListener(sessionResumedEvent, onSessionResumed)
      if (path !== null) void read()
    },
    hostDisconnected: () => {
      document.removeEventListener('visibilitychange', onVisibilityChange)
      document.removeEventListener(serverAvailabilityEvent, onAvailability)
      document.removeEventListener(sessionResumedEvent, onSessionResumed)
      stop()
    },
    hostUpdate: () => {
      const next = options.path()
      if (next !== path) return changePath(next)
      const nextKey = options.refreshKey?.()
      if (nextKey === refreshKey) return
      refreshKey = nextKey
      if (resource.error?.status === 403) return
      needsSecondRead = true
      schedule(debounceMs)
    }
  })
  return resource
}

/** Dispatched on the document when the server stops or resumes responding; `detail`: whether it responds. */
export const serverAvailabilityEvent = 'cuewire-server-availability'

declare global {
  interface DocumentEventMap {
    [serverAvailabilityEvent]: CustomEvent<boolean>
  }
}
