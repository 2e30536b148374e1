import type { ReceivedRequest, Reply, RoutedRequest, Route } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import type { Dialect } from '../../model/station/dialect.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Permission } from '../auth/access.ts'
import type { ApiKey } from '../auth/key-checker.ts'
import type { RecordName } from './record-names.ts'
import type { ApiServices } from './services.ts'

/** A station that a path names. */
export interface PathStation {
  readonly id: number
  readonly shortName: string
}

/** The caller of a keyed route. */
export interface Caller {
  /** Null for a playout, which has a key of its station. */
  readonly key: ApiKey | null
  /** The station in the path; null if the path has none. */
  readonly station: PathStation | null
}

/** A request to a handler. */
export interface ApiRequest extends RoutedRequest, ReceivedRequest {
  /** The query as sent, if `query` was translated. */
  readonly sentQuery?: URLSearchParams
  /** Null on public routes. */
  readonly caller: Caller | null
  /** The most records of a page, if that is more than usual. */
  readonly maxPageSize?: number
  /** Translates the records of a list; undefined: they remain as they are. */
  readonly renderRows?: RenderRows
}

/** Renders records of one page, in the same order. */
export type RenderRows = (rows: readonly unknown[]) => Promise<readonly unknown[]> | readonly unknown[]

/** The OpenAPI description of a route, without what follows from its path, method and access. */
export interface ApiOperation {
  /** The operation's id: `listPlaylists`. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly query?: Readonly<Record<string, JsonSchema>>
  /** Without references to other schemas, since responses name the fields that it does not describe. */
  readonly body?: JsonSchema
  /** The record that the body consists of. */
  readonly bodyRecord?: RecordName
  readonly isBodyOptional?: boolean
  /** The status of success, if not 200. */
  readonly status?: 201 | 204
  /** The schema of the response body; null: it is empty. */
  readonly response: JsonSchema | null
  /** The record that the response consists of, alone, in a list or in a page of a list. */
  readonly responseRecord?: RecordName
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

/** A route of the API or of a page. */
export interface HandledRoute extends Route {
  /**
   * The permission that the caller's key needs, for the station if the path has one. `public` routes ignore a
   * wrong key. `playout key` requires the key of the station's playout.
   */
  readonly access: 'public' | 'any key' | 'playout key' | Permission
  /** Reports of listeners have a rate limit of their own per key. */
  readonly writeLimit?: 'reports'
  readonly operation?: ApiOperation
  /** What is different in dialects other than the documented one. */
  readonly variants?: Readonly<Partial<Record<Dialect, RouteVariant>>>
  /** The dialect that has this method of the path. */
  readonly onlyIn?: Dialect
  /** Throws `ApiError` for errors that the caller may see. */
  readonly handle: RouteHandler
}

export type RouteHandler = (request: ApiRequest, services: ApiServices) => Reply | Promise<Reply>

/** How a route receives and answers requests in a dialect. */
export interface RouteVariant {
  readonly operation: ApiOperation
  readonly handle: RouteHandler
  /** Whether the body may be an HTML form of the record. */
  readonly takesRecordForm?: boolean
  /** Leaves out members of a body without an effect that have the values they are shown with. */
  readonly omitConstants?: (body: unknown) => unknown
}

/** A documented route of the API. */
export interface ApiRoute extends HandledRoute {
  readonly operation: ApiOperation
}

type Handling = Omit<ApiRoute, 'method' | 'path' | 'access' | 'operation'>

/** Declares a route of the API: its documentation and its handler together. */
export function apiRoute(
  method: ApiRoute['method'],
  path: string,
  access: ApiRoute['access'],
  declared: ApiOperation & Handling
): ApiRoute {
  return { ...declared, method, path, access, operation: declared }
}

/** A JSON response with status 200. */
export const jsonReply = (value: unknown): Reply => ({ value })

/** The fields of the response of a successful action. */
export const actionResultFields = (message: string) => ({
  success: true,
  message,
  formatted_message: message
})

/** The response of updates, deletions and other actions. */
export const actionReply = (message: string): Reply => jsonReply(actionResultFields(message))

/** The station of a keyed route. Throws 404 if its path has none. */
export function getRequestStation({ caller }: ApiRequest): PathStation {
  if (!caller?.station) throw new ApiError('not-found')
  return caller.station
}
