import type { Permission } from './access.ts'

/** What a handler sees of a request. Paths and queries are decoded; `body` is parsed JSON, undefined without one. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: unknown
  /** The key as sent in `X-API-Key` or `Authorization: Bearer`, empty if none. */
  readonly apiKey: string
}

/**
 * An answer. `body` is sent as it is: text is JSON unless `headers` names another content type; undefined sends
 * none. `status` is 200 unless given.
 */
export interface Reply {
  readonly status?: number
  readonly body?: string | Uint8Array | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * One method of one path (`/api/station/:station_id/queue`). `access` is what the caller's key must be allowed;
 * `public` routes ignore a wrong key. A handler throws `ApiError` for what the caller may know.
 */
export interface Route<Services> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly access: 'public' | Permission
  readonly handle: (request: ApiRequest, services: Services) => Reply | Promise<Reply>
}

/** A JSON answer with status 200. */
export function json(value: unknown): Reply {
  return { body: JSON.stringify(value) }
}

/** The action result of updates, deletes and other actions. */
export function actionResult(message: string): Reply {
  return json({ success: true, message, formatted_message: message })
}
