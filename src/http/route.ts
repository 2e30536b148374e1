import type { FileHandle } from 'node:fs/promises'

import type { CachedResponse } from '../model/station/cached-response.ts'
import type { LongList } from '../model/station/live-view.ts'

/** A request. Paths and queries are decoded. */
export interface RoutedRequest {
  readonly method: string
  /** The path as sent, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The request headers that the route declares, by name; empty if they were not sent. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The key in `X-API-Key`, `Authorization: Bearer` or, on public routes, `?api_key=` or `?token=`, where it may be a
   * listen token; otherwise the session of the cookie (see `credentials.ts`); empty without either. Routes that are not
   * public take the query as `takesKeyInQuery` of `ServeOptions` says.
   */
  readonly apiKey: string
  /** The `Host` header: `radio.example.com:8080`; empty without one. */
  readonly host: string
  /** The client's address; empty on a public route that does not need it and was called without a key. */
  readonly address: string
  /** The header `User-Agent`; empty unless the route is `isSameOriginOnly`. */
  readonly userAgent: string
  /** Whether it says that it comes from a page of this server. */
  readonly isOwnPage: boolean
  /** False after the client left or the request timed out. */
  readonly isOpen: () => boolean
  /** Calls back once the response is sent or the client left, or at once if that has happened. */
  readonly onSettled: (callback: () => void) => void
}

/** A body that is received while the handler runs. No more than about a megabyte of it is in memory. */
export interface BodyStream {
  /** The length of the body; null if it is chunked. */
  readonly size: number | null
  /**
   * The next bytes, at least one, which are valid until the next call; null at the end. Rejects if the client leaves or
   * is silent for too long.
   */
  readonly read: () => Promise<Uint8Array | null>
  /** Sets `X-Ignored-Fields` of the response, also if it is an error. */
  readonly nameIgnored: (names: string) => void
}

/** Content that is read while it is sent. */
export interface ContentSource {
  readonly size: number
  /** Returns bytes from an offset on: at least one, if the offset is less than `size`. */
  readonly read: (offset: number) => Promise<Uint8Array>
}

/** An open file to send, and its size in bytes. */
export interface FileToSend {
  readonly handle: FileHandle
  readonly size: number
}

/**
 * A response. At most one of `value`, `body`, `file`, `source`, `document`, `longList` and `later` provides its
 * content.
 */
export interface Reply {
  /** The default is 200. */
  readonly status?: number
  /** Sent as JSON. */
  readonly value?: unknown
  /** JSON, unless `headers` has another content type. */
  readonly body?: string | Uint8Array | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[]
  /** Sent as the client reads it, and closed once the response is settled. */
  readonly file?: FileToSend
  /** Read and sent as the client reads it. */
  readonly source?: ContentSource
  /** Called when the response is sent, compressed or as a 304 if the client accepts that. */
  readonly document?: () => CachedResponse
  /** Called when the response is sent, streamed or as a 304. Calls `onEvicted` if the rest cannot be sent. */
  readonly longList?: (onEvicted: () => void) => Promise<LongList>
  /**
   * Called at once. Calls `respond` when the content is known. Returns what to call if the client leaves
   * first.
   */
  readonly later?: (respond: (work: () => Reply | Promise<Reply>) => void) => () => void
}

/** One method of one path (`/api/station/:station_id/queue`), and how its requests are received. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Who may call it. Everybody may call a `public` route. */
  readonly access: string
  /**
   * Content types of text bodies that are accepted in addition to JSON, also as the file of a form; the handler
   * receives a string.
   */
  readonly textTypes?: readonly string[]
  /** Whether the body of an HTML form is accepted in addition to JSON; the handler receives its fields. */
  readonly takesForm?: boolean
  /** Whether a GET changes something, so that a permission to read is not enough. */
  readonly changes?: boolean
  /**
   * The accepted content types of a body that the handler receives as bytes, also as the file of a form. JSON is
   * refused.
   */
  readonly byteTypes?: readonly string[]
  /** Whether the handler reads the body itself, of any size and content type, and may take as long as it is sent. */
  readonly isStreamed?: boolean
  /** Request headers that the handler needs, in lower case. */
  readonly headers?: readonly string[]
  /** Headers of every response, also of errors. All methods of a path have the same. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** Headers of the response to OPTIONS, in addition to those of a preflight. */
  readonly optionsHeaders?: Readonly<Record<string, string>>
  /** The default is 1 MiB. */
  readonly maxBodyBytes?: number
  /** The most values in a JSON body; the default is `maxJsonValues`. */
  readonly maxBodyValues?: number
  /** Whether a public route needs the client's address. */
  readonly needsAddress?: boolean
  /** Whether only pages of this server may call the route: it sets a session cookie. */
  readonly isSameOriginOnly?: boolean
  /** Whom it is for, if not for everybody. Then `Allow` leaves out the method, and HEAD is not allowed. */
  readonly onlyIn?: string
}

/** What was received with a request. */
export interface ReceivedRequest {
  /** Parsed JSON, text or bytes, as the route declares; undefined without a body. */
  readonly body: unknown
  /** The body of a route with `isStreamed`, else null. */
  readonly stream: BodyStream | null
}

/** A request whose caller may send it. */
export interface AdmittedRequest {
  /** The JSON Schema of a record that the body may contain as a form; undefined: forms of records are refused. */
  readonly form?: Readonly<Record<string, unknown>> | undefined
  /** Returns the value of `X-Ignored-Fields`: the fields of the body that have no effect; empty if there are none. */
  readonly nameIgnored?: ((body: unknown) => string) | undefined
  /** Throws `ApiError` for errors that the caller may see. */
  readonly handle: (received: ReceivedRequest) => Reply | Promise<Reply>
}

/** The content type of an HTML form. */
export const formContentType = 'application/x-www-form-urlencoded'
