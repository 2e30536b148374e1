import type { Responses } from './responses.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The path of a station in the API; the last part is an id or a short name. */
export type StationPath = `api/station/${string}`

/** The type of the answer to a request. It is unknown for a path that is known at run time only. */
export type ApiResponse<By extends HttpMethod, Path extends string> = string extends Path
  ? unknown
  : Path extends string
    ? RowsOrPage<ResponseByKey<OperationKey<By, Path>>, Path>
    : never

/** Whether the OpenAPI document has the operation of a path, or the path is known at run time only. */
export type IsDocumented<By extends HttpMethod, Path extends string> = string extends Path
  ? true
  : OperationKey<By, Path> extends keyof Responses
    ? true
    : false

type ResponseByKey<Key> = Key extends keyof Responses ? Responses[Key] : never
type OperationKey<By extends HttpMethod, Path extends string> = `${By} ${WithoutValues<Path>}`

/** `api/station/{}/queue`, as in the keys of `Responses`, for the path of the queue of any station. */
type WithoutValues<Path extends string> = Path extends `${infer Part}/${infer Rest}`
  ? `${WithoutValue<Part>}/${WithoutValues<Rest>}`
  : WithoutValue<Path>
type WithoutValue<Part extends string> = Part extends `${infer Name}?${string}`
  ? WithoutValue<Name>
  : string extends Part
    ? '{}'
    : Part extends `${number}`
      ? '{}'
      : Part

/** A list answers a page if its query begins with `per_page`, and all rows without a query. */
type RowsOrPage<Given, Path extends string> = Path extends `${string}?per_page=${string}`
  ? Required<Exclude<Given, readonly unknown[]>>
  : Path extends `${string}?${string}`
    ? Given
    : [Extract<Given, readonly unknown[]>] extends [never]
      ? Given
      : Extract<Given, readonly unknown[]>
