import type { FileHandle } from 'node:fs/promises'

import type { JsonSchema } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { CachedResponse, Position } from '../../station/document.ts'
import type { Permission } from '../auth/access.ts'
import type { Key } from '../auth/keys.ts'
import type { ApiServices } from './services.ts'

/** A station as a path names it. */
export interface StationRow {
  readonly id: number
  readonly shortName: string
}

/** Who calls a keyed route, and the station it is about where its path names one. */
export interface Caller {
  /** Null for a playout, which has a key of its station instead. */
  readonly key: Key | null
  readonly station: StationRow | null
}

/** What a handler sees of a request. Paths and queries are decoded; `body` is undefined without one. */
export interface ApiRequest {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Parsed JSON, text or bytes, as the route has it. */
  readonly body: unknown
  /**
   * The key as sent in `X-API-Key`, `Authorization: Bearer` or, to public routes, `?api_key=`; empty if none.
   */
  readonly apiKey: string
  /**
   * The name under which the server was asked, with its port: `radio.example.com:8080`; empty if none was
   * sent.
   */
  readonly host: string
  /** The client's address; empty where a public route was called without a key and does not need it. */
  readonly address: string
  /** Null on public routes. */
  readonly caller: Caller | null
  /** False once the client left, or was answered that it took too long. */
  readonly isOpen: () => boolean
  /** Calls back once the answer is sent or the client left, or at once if that has happened. */
  readonly onSettled: (callback: () => void) => void
}

/** An open file to be sent, and its size in bytes. */
export interface SentFile {
  readonly handle: FileHandle
  readonly size: number
}

/**
 * An answer. `body` is sent as it is: text is JSON unless `headers` names another content type; undefined
 * sends none. `status` is 200 unless given.
 *
 * `file` stands in place of `body`: it is read piece by piece as the client reads, and closed once the answer
 * is settled.
 *
 * `document` stands in place of `body` and `status`: it is asked for at the moment of sending, and is sent
 * compressed or as a 304 where the caller is content with that.
 *
 * `later` stands in place of all: it is called at once and calls `answer` when there is something to say.
 * What it gives is called if the client leaves before that.
 */
export interface Reply {
  readonly status?: number
  readonly body?: string | Uint8Array | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly file?: SentFile
  readonly document?: () => CachedResponse
  readonly later?: (answer: (work: () => Reply | Promise<Reply>) => void) => () => void
}

/** What the OpenAPI document says of a route beside what follows from its path, method and access. */
export interface Operation {
  /** The operation's id: `listPlaylists`. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly query?: Readonly<Record<string, JsonSchema>>
  /** Refers to no other schema. Answers name the fields of a body that it does not describe. */
  readonly body?: JsonSchema
  /** True where there may be no body. */
  readonly isBodyOptional?: boolean
  /** Another status of success than 200. */
  readonly status?: 201
  /** The schema of the answer's body, with its content types where that is not JSON. */
  readonly answer: JsonSchema
  readonly contentTypes?: readonly string[]
  /** True where `format=csv` asks for a file of the same. */
  readonly hasCsv?: boolean
  /** What a 302 leads to, where that is an answer as well. */
  readonly redirectsTo?: string
  /** True where there is no other answer than the 302. */
  readonly isRedirect?: boolean
  /** What a 304 means, where that is an answer as well; then there are entity tags. */
  readonly unchanged?: string
  /** True where the answer tells the position of a station's state. */
  readonly isPositioned?: boolean
  /** Statuses of errors that only this route has (409, 404 of a body's references, ...). */
  readonly errors?: readonly number[]
}

/**
 * One method of one path (`/api/station/:station_id/queue`). `access` is what the caller's key must be
 * allowed, on the station where the path names one; `public` routes ignore a wrong key, and `playout key` is
 * that of the station's playout in its place. A handler throws `ApiError` for what the caller may know.
 */
export interface Route<Services> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly access: 'public' | 'any key' | 'playout key' | Permission
  /** Content types of text bodies that are welcome beside JSON; the handler gets them as a string. */
  readonly textTypes?: readonly string[]
  /** True where the body of an HTML form is welcome beside JSON; the handler gets its fields. */
  readonly takesForm?: boolean
  /** True where a GET changes something: a right to read is not enough. */
  readonly changes?: boolean
  /**
   * Content types of which one must be said of the body; the handler gets its bytes, and JSON is not welcome.
   */
  readonly byteTypes?: readonly string[]
  /** Another limit than 1 MiB. */
  readonly maxBodyBytes?: number
  /** True where the client's address is needed although the route is public. */
  readonly needsAddress?: boolean
  readonly operation?: Operation
  readonly handle: (request: ApiRequest, services: Services) => Reply | Promise<Reply>
}

/** A route of the API, with what its documentation says. */
export interface ApiRoute extends Route<ApiServices> {
  readonly operation: Operation
}

/** The content type of an HTML form. */
export const formType = 'application/x-www-form-urlencoded'

/** The headers that tell a position. */
export function positionHeaders({ epoch, offset }: Position) {
  return { 'X-Cuewire-Epoch': epoch, 'X-Cuewire-Offset': String(offset) }
}

/** A JSON answer with status 200. */
export function json(value: unknown): Reply {
  return { body: JSON.stringify(value) }
}

/** The action result of updates, deletes and other actions. */
export function actionResult(message: string): Reply {
  return json({ success: true, message, formatted_message: message })
}

/** The station a keyed route is about. Throws 404 where its path names none. */
export function stationOf({ caller }: ApiRequest): StationRow {
  if (!caller?.station) throw new ApiError('not-found')
  return caller.station
}
