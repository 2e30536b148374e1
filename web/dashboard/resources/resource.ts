import { toApiRequestError } from '../api/api-error.ts'
import { type CallOptions, requestJson } from '../api/call-api.ts'
import type { DashboardFeature } from '../api/permissions.ts'
import { loadBodySchema } from '../forms/body-schemas.ts'
import { type FormField, toFormFields } from '../forms/form-field.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import type { FieldSelection } from '../forms/record-form.ts'
import { chipView } from '../ui/controls.ts'

/** A column of a list of records; `view` returns text or a template. */
interface Column {
  readonly title: string
  readonly view: (record: ApiRecord) => unknown
  /** `wide` is hidden on phones, `count` is aligned to the right. */
  readonly style?: 'wide' | 'count' | 'count wide'
}

interface RowAction {
  readonly label: string
  /** Returns a message for the operator. */
  readonly run: (record: ApiRecord, station: string) => Promise<string>
}

/** A resource of the API that operators list, create, edit, copy and delete. Paths are those of OpenAPI. */
export interface ResourceView {
  /** `Mounts`, and `mount` in sentences and buttons. */
  readonly title: string
  readonly noun: string
  /** What the records are for, shown while there are none. */
  readonly emptyText: string
  readonly paths: { readonly list: string; readonly one: string }
  /** The member of a record that identifies it, `id` by default. */
  readonly idKey?: string
  /** The member of a response that contains the records, `rows` by default. */
  readonly rowsKey?: string
  /** The member of a response that contains one record; by default the response is the record. */
  readonly recordKey?: string
  readonly write: DashboardFeature
  readonly columns: readonly [Column, ...Column[]]
  readonly nameOf: (record: ApiRecord) => string
  /** Chooses and completes the fields of the form; by default all that a form can show. */
  readonly openFields?: (fields: FormField[], station: string) => Promise<FieldSelection> | FieldSelection
  /** Whether records can be changed; they can by default. */
  readonly canEdit?: boolean
  /** Returns the start of a copy: a record with another name. Without it there are no copies. */
  readonly toCopy?: (record: ApiRecord) => ApiRecord
  /** Converts the body of the form to that of the API. */
  readonly toRequest?: (body: ApiRecord) => ApiRecord
  /** What a deletion loses, in one or two sentences with names and numbers. */
  readonly describeLoss: (record: ApiRecord, station: string) => Promise<string> | string
  /** How a record is deleted, if it is not `DELETE` on its path. */
  readonly removal?: { readonly verb: string; readonly path: string }
  readonly canRemove?: (record: ApiRecord) => boolean
  readonly actions?: readonly RowAction[]
  /** The title and the text of a secret that only the response to a creation contains. */
  readonly findSecret?: (created: ApiRecord) => readonly [title: string, secret: string] | null
}

/** Fills a path of OpenAPI: `{station_id}` is the station, any other parameter the id of the record. */
export function fillApiPath(path: string, station: string, id: unknown = ''): string {
  return path
    .slice(1)
    .replace('{station_id}', encodeURIComponent(station))
    .replace(/\{\w+\}/, encodeURIComponent(String(id)))
}

export const recordIdOf = ({ idKey = 'id' }: ResourceView, record: ApiRecord): string => String(record[idKey])

/** Loads one record. */
export async function loadRecord(
  { paths, recordKey }: ResourceView,
  station: string,
  id: string,
  options: CallOptions = {}
): Promise<ApiRecord> {
  const response = await requestJson<ApiRecord>('GET', fillApiPath(paths.one, station, id), options)
  return recordKey === undefined ? response : Object(response[recordKey])
}

/** Loads the description of the fields, and returns the selection for a form. */
export async function loadFormFields(resource: ResourceView, station: string): Promise<FieldSelection> {
  const fields = toFormFields(await loadBodySchema('post', resource.paths.list))
  return resource.openFields?.(fields, station) ?? (() => fields)
}

/** A page of a list, with its records under a name that the resource has. */
export interface RecordPage extends ApiRecord {
  readonly total: number
  readonly total_pages: number
}

/** The records of a page. */
export function recordsOfPage(page: RecordPage, { rowsKey = 'rows' }: ResourceView): readonly ApiRecord[] {
  const rows = page[rowsKey]
  return Array.isArray(rows) ? rows : []
}

/** Counts the records of a list; null if the key may not read them. */
export async function countRecords(path: string): Promise<number | null> {
  try {
    return (await requestJson<RecordPage>('GET', `${path}?per_page=1`)).total
  } catch (error) {
    if (toApiRequestError(error).status === 403) return null
    throw error
  }
}

/** The text of a member of a record. */
export const recordTextOf = (record: ApiRecord, name: string): string => toDisplayText(record[name])

/** The text of a text, a number or a flag; '' for anything else. */
export const toDisplayText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** The chip of a flag. */
export const flagChip = (isOn: unknown, on: string, off: string) =>
  chipView(isOn === true ? { text: on, tone: 'good' } : { text: off, tone: 'neutral' })

/** Starts a copy with some other values: its name, and what only one record can have. */
export const startCopyWith =
  (changes: (record: ApiRecord) => ApiRecord) =>
  (record: ApiRecord): ApiRecord => ({ ...record, ...changes(record) })
