import { parseApiError, toApiError } from '../api/api-error.ts'
import { currentKey, serverBaseUrl } from '../api/call-api.ts'

/** The key of the operator as a header. */
export function keyHeaders(): Readonly<Record<string, string>> {
  const key = currentKey()
  return key === '' ? {} : { 'X-API-Key': key }
}

interface FileRequest {
  readonly method?: 'GET' | 'POST'
  readonly body?: Blob
  readonly signal?: AbortSignal
}

/** Requests a file of the API, or sends one. Throws an `ApiError`. */
export async function requestFile(path: string, { method = 'GET', body, signal }: FileRequest = {}) {
  try {
    const response = await fetch(new URL(path, serverBaseUrl), {
      method,
      headers: { ...keyHeaders(), ...(body === undefined ? {} : { 'Content-Type': body.type }) },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      credentials: 'omit',
      referrerPolicy: 'no-referrer'
    })
    if (response.ok) return response
    const answer: unknown = await response.json().catch(() => null)
    throw parseApiError(response.status, answer, response.headers.get('Retry-After'))
  } catch (error) {
    throw toApiError(error)
  }
}

/** Saves a file of the API under its name. */
export async function downloadFile(path: string, name: string): Promise<void> {
  const response = await requestFile(path)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  // The browser has started to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
