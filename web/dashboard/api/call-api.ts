import { serverUrlOfFile } from '../../elements/addresses.ts'
import { ApiRequestError, parseErrorResponse, toApiRequestError } from './api-error.ts'
import type { ActionResult } from './responses.ts'
import type { ApiResponse, IsDocumented, HttpMethod } from './typed-response.ts'

/** The server that served this page. */
export const serverBaseUrl: URL = serverUrlOfFile(import.meta.url)

const storageKey = 'cuewire-key'

/** The API key of the operator, '' if signed out. It is kept for this browser tab and never part of a URL. */
export const currentApiKey = (): string => sessionStorage.getItem(storageKey) ?? ''

/** Stores the key for this tab; '' deletes it. */
export function storeTabApiKey(key: string): void {
  if (key === '') sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, key)
}

const userStorageKey = 'cuewire-user'

/**
 * The id of the user who has signed in with this browser, '' if nobody has. The session is in a cookie that
 * scripts cannot read.
 */
const readStoredUser = (): string => localStorage.getItem(userStorageKey) ?? ''

/** The user of this tab: the stored one, until another tab signs in or out. */
let tabUser: string | null = null
const currentUser = (): string => (tabUser ??= readStoredUser())

/** Stores who has signed in, for all tabs; null after signing out. */
export function storeSignedInUser(id: number | null): void {
  tabUser = id === null ? '' : String(id)
  if (id === null) localStorage.removeItem(userStorageKey)
  else localStorage.setItem(userStorageKey, tabUser)
}

/** Calls a function when another tab may have signed in or out. */
export function watchStoredUser(onChange: () => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === null || key === userStorageKey) onChange()
  })
  addEventListener('pageshow', ({ persisted }) => {
    // A page that the browser has kept missed the events.
    if (persisted) onChange()
  })
}

/** Whether another tab has signed in or out, which changes the session of this one. */
export const isOtherUserStored = (): boolean => readStoredUser() !== currentUser()

/** Takes over who has signed in or out in another tab. */
export function adoptStoredUser(): void {
  tabUser = readStoredUser()
}

/** Identifies the key or the user of this tab; '' if signed out. A key wins. */
export const currentCaller = (): string =>
  currentApiKey() || (currentUser() === '' ? '' : `user ${currentUser()}`)

/** Dispatched on the document when the server rejects the stored key or the session; `detail`: while saving. */
export const keyRejectedEvent = 'cuewire-key-rejected'

/** Dispatched on the document after somebody has signed in again for the page that is shown, or that was left. */
export const sessionResumedEvent = 'cuewire-session-resumed'

declare global {
  interface DocumentEventMap {
    [keyRejectedEvent]: CustomEvent<boolean>
  }
}

export interface CallOptions {
  /** Sent as JSON, or as it is if it is a `Blob`. */
  readonly body?: unknown
  /** Used instead of the stored key. */
  readonly key?: string
  /** Whether the operator saves something with the request: by default, if it is no GET. */
  readonly isSave?: boolean
  readonly signal?: AbortSignal
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 20_000

/**
 * Calls the API: `callApi('GET', 'api/stats')`. The type of the answer is that of the OpenAPI document, against which
 * the server is tested. Throws an `ApiRequestError`, also for an answer that is neither an object nor an array.
 */
export async function callApi<By extends HttpMethod, Path extends string>(
  method: By,
  path: Path,
  ...options: IsDocumented<By, Path> extends true ? [options?: CallOptions] : [undocumented: never]
): Promise<ApiResponse<By, Path>>
export async function callApi(method: HttpMethod, path: string, options?: CallOptions): Promise<unknown> {
  return requestJson(method, path, options)
}

/** Like `callApi`, where the caller knows the type of the answer. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- JSON has no type
export async function requestJson<Json>(
  method: HttpMethod,
  path: string,
  options: CallOptions = {}
): Promise<Json> {
  try {
    const response = await sendRequest(method, path, options)
    const json = await response.json().catch(() => null)
    if (typeof json !== 'object' || json === null)
      throw new ApiRequestError('The server returned an unexpected response.')
    return json
  } catch (error) {
    throw toApiRequestError(error)
  }
}

/** The time for a large file over a slow connection. */
export const fileTimeoutMs = 30 * 60_000

/** Reads a file of the API. Throws an `ApiRequestError`. */
export async function requestApiFile(
  path: string,
  options: Pick<CallOptions, 'signal'> = {}
): Promise<Response> {
  try {
    return await sendRequest('GET', path, { ...options, timeoutMs: fileTimeoutMs })
  } catch (error) {
    throw toApiRequestError(error)
  }
}

/** The time for a file that the server makes. */
const downloadTimeoutMs = 60_000

/** Downloads a file of the API under a name. Throws an `ApiRequestError`. */
export async function downloadFile(path: string, name: string, timeoutMs = downloadTimeoutMs): Promise<void> {
  try {
    const response = await sendRequest('GET', path, { timeoutMs })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = name
    link.click()
    // The browser has started to read it by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  } catch (error) {
    throw toApiRequestError(error)
  }
}

/** The headers that say who sends a request. Without a key, that is the user of the session. */
export const callerHeaders = (key = currentApiKey()): Readonly<Record<string, string>> => ({
  // Without it, the server refuses a session that changes something.
  'X-Requested-With': 'cuewire',
  ...(key === '' ? {} : { 'X-API-Key': key })
})

/** Throws an `ApiRequestError` for a response that is an error. */
async function sendRequest(
  method: HttpMethod,
  path: string,
  { body, key, isSave = method !== 'GET', signal, timeoutMs = defaultTimeoutMs }: CallOptions
): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const usedKey = key ?? currentApiKey()
  const response = await fetch(new URL(path, serverBaseUrl), {
    method,
    headers: {
      ...callerHeaders(usedKey),
      ...(body === undefined || body instanceof Blob ? {} : { 'Content-Type': 'application/json' })
    },
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    credentials: usedKey === '' ? 'same-origin' : 'omit',
    referrerPolicy: 'no-referrer'
  })
  if (response.ok) return response
  const json: unknown = await response.json().catch(() => null)
  const error = parseErrorResponse(response.status, json, response.headers.get('Retry-After'))
  if (error.isUnauthenticated && key === undefined)
    document.dispatchEvent(new CustomEvent(keyRejectedEvent, { detail: isSave }))
  throw error
}

interface ActionOptions extends CallOptions {
  /** Reads the effects of the action. */
  readonly refresh?: () => Promise<unknown>
}

/** Calls an action of the API. Returns its message to operators. */
export async function callAction<By extends HttpMethod, Path extends string>(
  method: By,
  path: Path,
  ...options: IsDocumented<By, Path> extends true ? [options?: ActionOptions] : [undocumented: never]
): Promise<string>
export async function callAction(
  method: HttpMethod,
  path: string,
  { refresh, ...options }: ActionOptions = {}
): Promise<string> {
  const { message } = await requestJson<ActionResult>(method, path, options)
  await refresh?.()
  return message
}
