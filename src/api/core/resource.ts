import type { Sql, Tx } from '../../db/sql.ts'
import type { Fields, ValuesOf } from '../../fields/field.ts'
import type { StationChange } from '../../playout/change-station.ts'
import type { FieldError } from '../../runtime/errors.ts'
import type { Permission } from '../auth/access.ts'
import type { Caller, StationRow } from './route.ts'
import type { ApiServices } from './services.ts'

/**
 * What a write changes of what is shown: the station itself, what the rules mark, or something of all
 * stations.
 */
export type ShownBy = 'station' | 'by rules' | 'everywhere'

/** What is known of every resource. */
export interface DeclaredResource {
  /** The name of a record's schema: `Playlist`. */
  readonly name: string
  /** What a person calls one, and where the documentation groups it. */
  readonly title: string
  readonly tag: string
  readonly table: string
  /** A condition of SQL that every record meets, where the table has other rows as well. */
  readonly only?: string
  /** Paths of the list and of one record (`:id`); with `:station_id` the records belong to a station. */
  readonly paths: { readonly list: string; readonly one: string }
  readonly access: { readonly read: Permission; readonly write: Permission }
  readonly fields: Fields
  /** Unique constraints, and the field that is to blame. */
  readonly unique?: Readonly<Record<string, string>>
  /** What a write changes of what is shown; without it nothing. */
  readonly shows?: ShownBy
}

/**
 * One resource of the REST interface, as data: validation, record type, routes, columns and documentation
 * follow from it. A record has an id, and the fields in the order of their declaration.
 */
export interface Resource<F extends Fields> extends DeclaredResource {
  readonly fields: F
  /** Fields that `searchPhrase` looks in, that `sort` may name, and that are filters by their own name. */
  readonly search: readonly (keyof F & string)[]
  readonly sort: readonly ((keyof F & string) | 'id')[]
  readonly filters?: readonly (keyof F & string)[]
  /** The order without `sort`. */
  readonly order: (keyof F & string) | 'id'
}

/** Declares a resource; the declaration is its only argument and result, so that its types are known. */
export function resource<const F extends Fields>(declared: Resource<F>): Resource<F> {
  return declared
}

/**
 * A row: secrets as they are kept. Computed fields are not in it; a field that bodies have and the table has
 * not is, as the rules show it, when the row is about to be changed.
 */
export type StoredRecord<F extends Fields> = ValuesOf<F> & { readonly id: number }

/** A write on its way, inside its transaction and with the row (and its station's) locked. */
export interface Write<F extends Fields> {
  readonly tx: Tx
  /** The change of the station that the write is part of; null if nothing is shown of the record. */
  readonly change: StationChange | null
  readonly services: ApiServices
  readonly station: StationRow | null
  /** The record as it was; null: it is being made. */
  readonly before: StoredRecord<F> | null
  /** The record as it will be; may be changed. Secrets are as they are kept. */
  readonly values: ValuesOf<F>
  /** The fields the body had, but for secrets that it left as they are. */
  readonly sent: ReadonlySet<string>
  /** What only the answer of the creation shows. */
  readonly reveal: Record<string, unknown>
}

/** A deletion on its way, likewise. */
export type Deletion<F extends Fields> = Pick<Write<F>, 'tx' | 'change' | 'services' | 'station'> & {
  readonly before: StoredRecord<F>
}

/** A write that is asked for and not yet begun; `id` null: a record is to be made. */
export interface WriteRequest<F extends Fields> {
  readonly services: ApiServices
  readonly station: StationRow | null
  readonly query: URLSearchParams
  readonly id: number | null
  /** Secrets are in clear. */
  readonly values: Partial<ValuesOf<F>>
}

/** Where rendering happens. */
export interface RenderContext {
  readonly services: ApiServices
  /** What to read by: the transaction of a write that is on its way. */
  readonly sql: Sql | Tx
  readonly station: StationRow | null
  /** Who will see it. */
  readonly caller: Caller | null
}

/** What is special about a resource. Every function may throw `ApiError`. */
export interface ResourceRules<F extends Fields> {
  /**
   * Precedes the transaction, for checks that wait for others than the database. Its problems join those of
   * `prepare`.
   */
  readonly ahead?: (plan: WriteRequest<F>) => Promise<FieldError[]>
  /** Checks what no field can check alone, and completes the record. Gives every problem. */
  readonly prepare?: (write: Write<F>) => Promise<FieldError[]> | FieldError[]
  /** Turns a new secret into what is kept; without it a secret is sealed. */
  readonly protect?: (text: string, services: ApiServices) => Promise<string> | string
  /** Follows a write in its transaction. */
  readonly wrote?: (write: Write<F>, id: number) => Promise<void>
  /** Precedes a deletion in its transaction. */
  readonly deleting?: (deletion: Deletion<F>) => Promise<void>
  /** Takes the place of deleting the row, which stays without being found. */
  readonly remove?: (deletion: Deletion<F>) => Promise<void>
  /** Follows a deletion in its transaction. */
  readonly deleted?: (deletion: Deletion<F>) => Promise<void>
  /** Follows a committed write or deletion. */
  readonly committed?: (services: ApiServices, id: number) => Promise<void> | void
  /**
   * The computed fields of records, those that have no column (which `wrote` then writes), and those that are
   * shown otherwise than they are kept; in the order of `rows`.
   */
  readonly shown?: (
    rows: readonly StoredRecord<F>[],
    context: RenderContext
  ) => Promise<readonly Readonly<Record<string, unknown>>[]> | readonly Readonly<Record<string, unknown>>[]
}

/** The fields that have a column, in order. */
export function storedFields(fields: Fields): string[] {
  return Object.entries(fields)
    .filter(([, { isStored }]) => isStored)
    .map(([name]) => name)
}
