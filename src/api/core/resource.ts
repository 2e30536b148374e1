import type { StationChange } from '../../engine/change-station.ts'
import type { Fields, ValuesOf } from '../../model/fields/field.ts'
import type { FieldError } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { Permission } from '../auth/access.ts'
import type { RecordName } from './record-names.ts'
import type { ApiRequest, Caller, PathStation } from './route.ts'
import type { ApiServices } from './services.ts'

/** A resource, without the types of its fields. */
export interface ResourceBase {
  /** The record: `Playlist`. Its schema and its operations are named after it. */
  readonly name: RecordName
  /** The name of a record in sentences, and the group of its routes in the documentation. */
  readonly title: string
  readonly tag: string
  readonly table: string
  /** The SQL condition of the records, if the table has other rows too. */
  readonly only?: string
  /** Paths of the list and of one record (`:id`); with `:station_id` the records belong to a station. */
  readonly paths: { readonly list: string; readonly one: string }
  readonly access: { readonly read: Permission; readonly write: Permission }
  readonly fields: Fields
  /** The field by which people know a record. */
  readonly label: string
  /** Unique constraints, and the field of each. */
  readonly unique?: Readonly<Record<string, string>>
  /**
   * What a write publishes: the part `station` of its station, the parts that the hooks mark, or all
   * stations. By default nothing.
   */
  readonly publishes?: 'station' | 'marked parts' | 'all stations'
}

/**
 * A resource of the REST interface, as data: validation, record type, routes, columns and documentation
 * follow from it. A record has an id, then the fields in the order of their declaration.
 */
export interface Resource<F extends Fields> extends ResourceBase {
  readonly fields: F
  readonly label: keyof F & string
  /** The fields that `searchPhrase` searches, that `sort` may name, and that filter the list. */
  readonly search: readonly (keyof F & string)[]
  readonly sort: readonly ((keyof F & string) | 'id')[]
  readonly filters?: readonly (keyof F & string)[]
  /** The default of `sort`. */
  readonly order: (keyof F & string) | 'id'
}

/** Whether the records belong to stations. */
export const belongsToStation = ({ paths }: ResourceBase) => paths.list.includes(':station_id')

/** Whether the records are the stations themselves. */
export const hasStationRecords = ({ table }: ResourceBase) => table === 'stations'

/** The station in the path of a request; null if the path has none. */
export const stationIn = ({ caller }: ApiRequest): PathStation | null => caller?.station ?? null

/** Returns the declaration. Its purpose is to infer the types of the fields. */
export function defineResource<const F extends Fields>(declared: Resource<F>): Resource<F> {
  return declared
}

/**
 * A row, with secrets sealed or hashed. It has no computed fields. In an update it has the writable fields
 * without a column, as `render` returns them.
 */
export type StoredRecord<F extends Fields> = ValuesOf<F> & { readonly id: number }

interface WriteContext {
  readonly tx: Tx
  /** The change of the station; null if the resource publishes nothing, or the station is not inserted yet. */
  readonly change: StationChange | null
  readonly services: ApiServices
  readonly station: PathStation | null
}

/** A creation or an update in its transaction. The row and its station are locked. */
export interface ResourceWrite<F extends Fields> extends WriteContext {
  /** The stored record; null: it is created. */
  readonly before: StoredRecord<F> | null
  /** The record to be stored, with secrets sealed or hashed. `beforeWrite` may change it. */
  readonly values: ValuesOf<F>
  /** The names of the fields in the body, without secrets that keep their stored value. */
  readonly sent: ReadonlySet<string>
  /** Values that only the response to the creation contains. */
  readonly reveal: Record<string, unknown>
}

/** A deletion in its transaction. The row and its station are locked. */
export interface ResourceDeletion<F extends Fields> extends WriteContext {
  readonly before: StoredRecord<F>
  readonly values: null
}

/** The request for a creation (`id` is null) or an update, before its transaction. */
export interface ResourceWriteRequest<F extends Fields> {
  readonly services: ApiServices
  readonly station: PathStation | null
  readonly query: URLSearchParams
  readonly id: number | null
  /** Secrets are plain text. */
  readonly values: Partial<ValuesOf<F>>
}

export interface RecordRenderContext {
  readonly services: ApiServices
  /** The connection to read from: during a write its transaction. */
  readonly sql: Sql | Tx
  readonly station: PathStation | null
  readonly caller: Caller | null
}

/** What a resource does beyond its declaration. Every hook may throw `ApiError`. */
export interface ResourceHooks<F extends Fields> {
  /**
   * Runs before the transaction of a creation or an update, for checks that wait for something other than the
   * database. Returns all problems; `beforeWrite` runs nevertheless, so that a response names all problems.
   */
  readonly validate?: (request: ResourceWriteRequest<F>) => Promise<FieldError[]>
  /**
   * Checks across fields, completes the values, and prepares a deletion. Returns all problems; with any,
   * nothing is written.
   */
  readonly beforeWrite?: (
    write: ResourceWrite<F> | ResourceDeletion<F>
  ) => Promise<FieldError[]> | FieldError[]
  /** Runs after the row was written or deleted, in the same transaction. Stores fields without a column. */
  readonly afterWrite?: (write: ResourceWrite<F> | ResourceDeletion<F>, id: number) => Promise<void>
  /**
   * Returns, in the order of `rows`, the fields that have no column and those whose stored value is not the
   * one to show.
   */
  readonly render?: (
    rows: readonly StoredRecord<F>[],
    context: RecordRenderContext
  ) => Promise<readonly Readonly<Record<string, unknown>>[]> | readonly Readonly<Record<string, unknown>>[]
}
