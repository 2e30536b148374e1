import { isDeepStrictEqual } from 'node:util'

import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { ApiRequest, ApiRoute, RouteHandler } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

/** What a translation may read beside the records. */
export interface DialectContext {
  readonly request: ApiRequest
  readonly services: ApiServices
  readonly sql: Sql
  /** The id of the station of a keyed request; 0 without one. */
  readonly stationId: number
  /** Returns the address of a path below `/api`. */
  readonly link: (path: string) => string
  /** The same below the station of the request, named as in its path. */
  readonly stationLink: (path: string) => string
}

/** The parsed JSON of a body. */
export type JsonBody = Readonly<Record<string, unknown>>

/** What AzuraCast answers and takes for a record, where it differs from the documented dialect. */
export interface RecordDialect<Row extends object = object> {
  /** Renders documented records, up to a page of them, in the same order. What they lack is read once for all. */
  render?(rows: readonly Row[], context: DialectContext): readonly object[] | Promise<readonly object[]>
  /** Members that AzuraCast computes. A body may repeat them, as documented bodies may repeat computed fields. */
  readonly computed?: readonly string[]
  /**
   * Members without an effect, with the values that they are shown with: a body that repeats those ignores nothing.
   * Other values are named in `X-Ignored-Fields`.
   */
  readonly constants?: (body: JsonBody) => JsonBody
  /** The schemas of the fields that a body may have beside the documented ones, or that differ. */
  readonly fields?: Readonly<Record<string, JsonSchema>>
  /** Makes the documented body. */
  parse?(body: JsonBody, context: DialectContext): JsonBody | Promise<JsonBody>
  /** Makes the schema of the rendered record of the documented one. */
  readonly response?: (documented: JsonSchema) => JsonSchema
  /** Whether the feed renders it, in each dialect, so that handlers find it in `services.live`. */
  readonly isRenderedLive?: boolean
}

/** The same for an operation whose response is no record, or whose parameters differ. */
export interface OperationDialect<Value = unknown> {
  /** Makes the documented parameters of the path. Throws 404. */
  params?(context: DialectContext): Promise<ApiRequest['params']>
  /** Changes the query, which is a copy, into the documented one. */
  query?(query: URLSearchParams): void
  /** Answers in place of the handler of the route, which it may call. */
  handle?(request: ApiRequest, services: ApiServices, documented: RouteHandler): Reply | Promise<Reply>
  /** Makes the documented body. */
  parse?(body: JsonBody, context: DialectContext): JsonBody | Promise<JsonBody>
  /** Renders the response, after its records. */
  reply?(value: Value, context: DialectContext): unknown
  /** Makes the schema of the response of the documented one. */
  readonly response?: (documented: JsonSchema) => JsonSchema
}

/** Operations that are handled by other routes with their ids. */
export const dialectsFromRoutes = (routes: readonly ApiRoute[]): Readonly<Record<string, OperationDialect>> =>
  Object.fromEntries(routes.map(({ operation, handle }) => [operation.id, { handle }]))

export function openDialectContext(request: ApiRequest, services: ApiServices): DialectContext {
  const link = (path: string) => `${services.config.BASE_URL}/api/${path}`
  return {
    request,
    services,
    sql: services.reads,
    stationId: request.caller?.station?.id ?? 0,
    link,
    stationLink: path => link(`station/${request.params['station_id'] ?? ''}/${path}`)
  }
}

export const isJsonBody = (value: unknown): value is JsonBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Empty text is null in AzuraCast. */
export const emptyToNull = (text: string): string | null => (text === '' ? null : text)

/** PHP encodes a map without members as a list. */
export const toPhpMap = (map: object): object => (Object.keys(map).length === 0 ? [] : map)

/** A copy without members that have these values, also inside objects. */
export function omitConstants(body: JsonBody, constants: JsonBody): JsonBody {
  const kept = Object.entries(body).filter(
    ([name, value]) => !(name in constants && isDeepStrictEqual(value, constants[name]))
  )
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const inner = constants[name]
      return [name, isJsonBody(value) && isJsonBody(inner) ? omitConstants(value, inner) : value]
    })
  )
}

/** Renames members of a body. Members that are absent stay absent. */
export function renameMembers(body: JsonBody, names: Readonly<Record<string, string>>): JsonBody {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [names[name] ?? name, value]))
}

/** A copy without some members. */
export function omitMembers<Row extends object, Name extends keyof Row>(
  row: Row,
  names: readonly Name[]
): Omit<Row, Name> {
  const copy = { ...row }
  for (const name of names) delete copy[name]
  return copy
}
