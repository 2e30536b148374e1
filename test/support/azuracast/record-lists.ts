import type { Row, World } from './world.ts'

/** A list of the API, and the records that AzuraCast would answer. */
export interface RecordList {
  readonly path: string
  readonly rows: Iterable<Row>
  /** The key of the request, by default one with all permissions. */
  readonly apiKey?: string
  /** The address of the client. */
  readonly from?: string
  /** What a difference in the order of the records is called, if it counts. */
  readonly order?: string
  /** Whether the list may not exist. */
  readonly isAbsentAllowed?: boolean
  readonly stationId?: number
  /** Finds the records in an answer that is no list. */
  readonly toRecords?: (body: unknown) => readonly Row[]
}

/** A type of record, and its lists. */
export interface RecordType {
  readonly table: string
  readonly lists: (world: World) => Iterable<RecordList>
  /** Seconds that AzuraCast adds to a time. */
  readonly delays?: Readonly<Record<string, number>>
  /** Names of columns in answers, where they differ. */
  readonly names?: Readonly<Record<string, string>>
  /** The member with the id. */
  readonly id?: string
  /** The columns by which records are found that have other ids here; without any, there is one record. */
  readonly keys?: readonly string[]
  /** Members that are in an object of the answer. */
  readonly inside?: Readonly<Record<string, string>>
  /** The table of these members, if it is another one. */
  readonly innerTable?: string
  /** Columns that AzuraCast does not show, or shows otherwise. */
  readonly hidden?: readonly string[]
  /** Whether a list also has records that AzuraCast does not have. */
  readonly hasOthers?: boolean
  /** Whether songs that the AutoDJ has planned or played since may be absent. */
  readonly mayLackQueued?: boolean
  /** Makes members of an answer comparable. */
  readonly toRecord?: (response: Row) => Row
}

export const toObject = (value: unknown): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of a test
  typeof value === 'object' && value !== null ? (value as Row) : {}

/** The object or array at a path in an answer; empty if there is none. */
export const membersOf = (value: unknown, ...path: readonly (string | number)[]): Row =>
  toObject(path.reduce<unknown>((inner, name) => toObject(inner)[name], value))
