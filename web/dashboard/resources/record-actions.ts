import { toApiRequestError } from '../api/api-error.ts'
import { callApi, requestJson } from '../api/call-api.ts'
import { openFormDialog, openSecretDialog } from '../forms/form-dialog.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { type ActionRunner, showNotice } from '../ui/actions.ts'
import { isolateBidi } from '../ui/text.ts'
import { fillApiPath, recordIdOf, loadFormFields, loadRecord, type ResourceView } from './resource.ts'

/** Where an action on a record takes place. */
export interface RecordContext {
  /** Dispatches the notices. */
  readonly host: EventTarget
  readonly resource: ResourceView
  /** '' for resources of the installation. */
  readonly station: string
  /** Reads the records after a change. */
  readonly refresh: () => Promise<unknown>
  /** Called with a created record, as the server answers it. */
  readonly onCreated?: (created: ApiRecord) => void
}

interface RecordFormOptions {
  readonly isNew: boolean
  readonly onClose?: (() => void) | undefined
}

/** Opens the form of a record. A new one starts as a copy of `record`, if there is one. */
export async function openRecordForm(
  scene: RecordContext,
  record: ApiRecord | null,
  { isNew, onClose }: RecordFormOptions
): Promise<void> {
  const { resource, station } = scene
  await openFormDialog({
    title: isNew ? `New ${resource.noun}` : `Edit ${isolateBidi(resource.nameOf(record ?? {}))}`,
    select: await loadFormFields(resource, station),
    record,
    isNew,
    save: body => saveRecord(scene, body, isNew ? null : record),
    load: isNew || record === null ? null : () => reloadRecord(scene, record),
    onClose
  })
}

/** Reads a record again to save it. */
export const reloadRecord = ({ resource, station }: RecordContext, record: ApiRecord): Promise<ApiRecord> =>
  loadRecord(resource, station, recordIdOf(resource, record), { isSave: true })

/** Creates a record, or changes the given one. */
export async function saveRecord(
  scene: RecordContext,
  body: ApiRecord,
  record: ApiRecord | null
): Promise<void> {
  const { host, resource, station, refresh, onCreated } = scene
  const { paths, toRequest, findSecret, noun } = resource
  const request = toRequest?.(body) ?? body
  if (record !== null && Object.keys(request).length === 0) return
  const path =
    record === null
      ? fillApiPath(paths.list, station)
      : fillApiPath(paths.one, station, recordIdOf(resource, record))
  const method = record === null ? 'POST' : 'PUT'
  const response = await requestJson<ApiRecord>(method, path, { body: request })
  await refresh()
  const secret = record === null ? findSecret?.(response) : null
  if (secret) openSecretDialog(...secret)
  const done = record === null ? `${noun.charAt(0).toUpperCase()}${noun.slice(1)} created.` : 'Saved.'
  if (!secret) showNotice(host, { text: done, isError: false })
  if (record === null) onCreated?.(response)
}

/** Deletes a record after the operator has confirmed what is lost. */
export async function removeRecord(
  { resource, station, refresh }: RecordContext,
  actions: ActionRunner,
  record: ApiRecord
): Promise<void> {
  const { removal, paths } = resource
  const verb = removal?.verb ?? 'Delete'
  const name = isolateBidi(resource.nameOf(record))
  const path = fillApiPath(removal?.path ?? paths.one, station, recordIdOf(resource, record))
  let text = ''
  await actions.run('describe', async () => {
    text = await resource.describeLoss(record, station)
    return ''
  })
  if (text === '') return
  const remove = async () => {
    try {
      await callApi(removal === undefined ? 'DELETE' : 'POST', path)
    } catch (error) {
      // Someone else has deleted it.
      if (toApiRequestError(error).status !== 404) throw error
    }
    await refresh()
    return `${verb}d: ${name}`
  }
  await actions.run('remove', remove, { title: `${verb} “${name}”?`, text, verb })
}
