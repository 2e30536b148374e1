import { parseApiError, toApiError } from '../api/api-error.ts'
import { currentKey, serverBaseUrl } from '../api/call-api.ts'

/** The headers that say who sends a request. Without a key, that is the user of the session. */
export function callerHeaders(): Readonly<Record<string, string>> {
  const key = currentKey()
  // Without the first one, the server ignores the session.
  return { 'X-Requested-With': 'cuewire', ...(key === '' ? {} : { 'X-API-Key': key }) }
}

/** The time for a large file over a slow connection. */
const timeoutMs = 30 * 60_000

interface FileRequest {
  readonly method?: 'GET' | 'POST'
  readonly body?: Blob
  readonly signal?: AbortSignal
}

/** Requests a file of the API, or sends one. Throws an `ApiError`. */
export async function requestFile(path: string, { method = 'GET', body, signal }: FileRequest = {}) {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(new URL(path, serverBaseUrl), {
      method,
      headers: { ...callerHeaders(), ...(body === undefined ? {} : { 'Content-Type': body.type }) },
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      credentials: currentKey() === '' ? 'same-origin' : 'omit',
      referrerPolicy: 'no-referrer'
    })
    if (response.ok) return response
    const problem: unknown = await response.json().catch(() => null)
    throw parseApiError(response.status, problem, response.headers.get('Retry-After'))
  } catch (error) {
    throw toApiError(error)
  }
}

/** Saves a file of the library under its name. It may take longer than other downloads. */
export async function saveMediaFile(path: string, name: string): Promise<void> {
  const response = await requestFile(path)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  // The browser has started to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
