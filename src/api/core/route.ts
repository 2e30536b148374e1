import type { FileHandle } from 'node:fs/promises'

import type { JsonSchema } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { Dialect } from '../../station/dialect.ts'
import type { CachedResponse, StatePosition } from '../../station/document.ts'
import type { LongList } from '../../station/live-view.ts'
import type { Permission } from '../auth/access.ts'
import type { ApiKey } from '../auth/keys.ts'
import type { ApiServices } from './services.ts'

/** A station that a path names. */
export interface StationRow {
  readonly id: number
  readonly shortName: string
}

/** The caller of a keyed route. */
export interface Caller {
  /** Null for a playout, which has a key of its station. */
  readonly key: ApiKey | null
  /** The station in the path; null if the path has none. */
  readonly station: StationRow | null
}

/** A request to a handler. Paths and queries are decoded; `body` is undefined without one. */
export interface ApiRequest {
  readonly method: string
  /** The path as sent, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The query as sent, if `query` was translated from the dialect. */
  readonly sentQuery?: URLSearchParams
  /** Parsed JSON, text or bytes, as the route declares. */
  readonly body: unknown
  /** The body of a route with `isStreamed`, else null. */
  readonly stream: BodyStream | null
  /** The request headers that the route declares, by name; empty if they were not sent. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The key in `X-API-Key`, `Authorization: Bearer` or, on public routes, `?api_key=` or `?token=`, where it may be a
   * listen token, and in the dialect of AzuraCast `?api_key=` of requests that only read; otherwise the session of the cookie (see `session-cookie.ts`); empty without either.
   */
  readonly apiKey: string
  /** The `Host` header: `radio.example.com:8080`; empty without one. */
  readonly host: string
  /** The client's address; empty on a public route that does not need it and was called without a key. */
  readonly address: string
  /** The header `User-Agent`; empty unless the route is `isSameOriginOnly`. */
  readonly userAgent: string
  /** Null on public routes. */
  readonly caller: Caller | null
  /** `documented` unless the route has dialects. */
  readonly dialect: Dialect
  /** The most records of a page, if the dialect allows more than the documented one. */
  readonly maxPageSize?: number
  /** Renders the records of a list in the dialect; undefined: they remain as they are. */
  readonly renderRows?: RenderRows
  /** False after the client left or the request timed out. */
  readonly isOpen: () => boolean
  /** Calls back once the response is sent or the client left, or at once if that has happened. */
  readonly onSettled: (callback: () => void) => void
}

/** Renders records of one page, in the same order. */
export type RenderRows = (rows: readonly unknown[]) => Promise<readonly unknown[]> | readonly unknown[]

/** A body that is received while the handler runs. No more than about a megabyte of it is in memory. */
export interface BodyStream {
  /** The length of the body; null if it is chunked. */
  readonly size: number | null
  /**
   * The next bytes, at least one, which are valid until the next call; null at the end. Rejects if the client leaves or is silent
   * for too long.
   */
  readonly read: () => Promise<Uint8Array | null>
  /** Sets `X-Ignored-Fields` of the response, also if it is an error (see `ignored-fields.ts`). */
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

/** A response. Exactly one of `body`, `file`, `source`, `document`, `longList` and `later` provides its content. */
export interface Reply {
  /** The default is 200. */
  readonly status?: number
  /** JSON, unless `headers` has another content type. Undefined: without a body. */
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
   * Called at once. Calls `answer` when the content is known. Returns what to call if the client leaves
   * first.
   */
  readonly later?: (answer: (work: () => Reply | Promise<Reply>) => void) => () => void
}

/** The OpenAPI description of a route, without what follows from its path, method and access. */
export interface Operation {
  /** The operation's id: `listPlaylists`. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly query?: Readonly<Record<string, JsonSchema>>
  /** Without references to other schemas, since responses name the fields that it does not describe. */
  readonly body?: JsonSchema
  readonly isBodyOptional?: boolean
  /** The status of success, if not 200. */
  readonly status?: 201 | 204
  /** The schema of the response body; null: it is empty. */
  readonly answer: JsonSchema | null
  /** The content types of the response, if not JSON. */
  readonly contentTypes?: readonly string[]
  /** Whether `format=csv` returns the same as a file. */
  readonly hasCsv?: boolean
  /** Describes the target of a 302, if that is a possible response. */
  readonly redirectsTo?: string
  /** Whether a 302 is the only response. */
  readonly isRedirect?: boolean
  /** Describes a 304, if that is a possible response; then there are entity tags. */
  readonly unchanged?: string
  /** Describes an empty response with status 204, if that is possible beside the other one. */
  readonly absent?: string
  /** Describes a 202, if that is a possible response: the result is not there yet. */
  readonly accepted?: string
  /** Whether the response has the position of a station's state. */
  readonly isPositioned?: boolean
  /** Statuses of errors that only this route has (409, 404 for a reference in a body, ...). */
  readonly errors?: readonly number[]
}

/** One method of one path (`/api/station/:station_id/queue`). */
export interface Route<Services> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /**
   * The permission that the caller's key needs, for the station if the path has one. `public` routes ignore a
   * wrong key. `playout key` requires the key of the station's playout.
   */
  readonly access: 'public' | 'any key' | 'playout key' | Permission
  /**
   * Content types of text bodies that are accepted in addition to JSON, also as the file of a form; the handler
   * receives a string.
   */
  readonly textTypes?: readonly string[]
  /** Whether the body of an HTML form is accepted in addition to JSON; the handler receives its fields. */
  readonly takesForm?: boolean
  /** Whether a GET changes something, so that a permission to read is not enough. */
  readonly changes?: boolean
  /** Reports of listeners have a rate limit of their own per key. */
  readonly writeLimit?: 'reports'
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
  readonly operation?: Operation
  /** Whether requests and responses depend on the dialect. */
  readonly hasDialects?: boolean
  /** The dialect that has this method of the path. In the other one, and for HEAD, it is not allowed (405). */
  readonly onlyIn?: Dialect
  /** The body in the dialect of AzuraCast, if it differs from that of the operation. */
  readonly azuracastBody?: JsonSchema
  /** In this dialect, leaves out members of a body without an effect that have the values they are shown with. */
  readonly omitConstants?: (body: unknown) => unknown
  /** Throws `ApiError` for errors that the caller may see. */
  readonly handle: (request: ApiRequest, services: Services) => Reply | Promise<Reply>
}

/** A documented route of the API. */
export interface ApiRoute extends Route<ApiServices> {
  readonly operation: Operation
}

type Handling = Omit<ApiRoute, 'method' | 'path' | 'access' | 'operation'>

/** Declares a route of the API: its documentation and its handler together. */
export function apiRoute(
  method: ApiRoute['method'],
  path: string,
  access: ApiRoute['access'],
  declared: Operation & Handling
): ApiRoute {
  return { ...declared, method, path, access, operation: declared }
}

/** The content type of an HTML form. */
export const formContentType = 'application/x-www-form-urlencoded'

/** The header of responses whose dialect depends on the key. */
export const dialectVary = { Vary: 'X-API-Key, Authorization' } as const

/** The headers with the position of a station's state. */
export function positionHeaders({ epoch, offset }: StatePosition) {
  return { 'X-Cuewire-Epoch': epoch, 'X-Cuewire-Offset': String(offset) }
}

/** A JSON response with status 200. */
export function json(value: unknown): Reply {
  return { body: JSON.stringify(value) }
}

/** The fields of the response of a successful action. */
export const actionFields = (message: string) => ({ success: true, message, formatted_message: message })

/** The response of updates, deletions and other actions. */
export const actionReply = (message: string): Reply => json(actionFields(message))

/** The station of a keyed route. Throws 404 if its path has none. */
export function stationOf({ caller }: ApiRequest): StationRow {
  if (!caller?.station) throw new ApiError('not-found')
  return caller.station
}
