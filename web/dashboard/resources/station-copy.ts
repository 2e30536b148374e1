import { callApi } from '../api/call-api.ts'
import { loadBodySchema } from '../forms/body-schemas.ts'
import { openFormDialog } from '../forms/form-dialog.ts'
import { type FormField, toFormFields } from '../forms/form-field.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { recordTextOf } from './resource.ts'

/** The parts of a station that can be copied, with their names. */
const partNames: Readonly<Record<string, string>> = {
  media_storage: 'Songs, which stay in the same storage location',
  recordings_storage: 'Storage location of recordings',
  podcasts_storage: 'Storage location of podcasts',
  playlists: 'Playlists and their schedules',
  mounts: 'Mounts',
  remotes: 'Relays',
  streamers: 'Streamers',
  permissions: 'Permissions of people and API keys',
  webhooks: 'Web hooks, disabled'
}

const notCopied =
  'Settings are always copied. Not copied: the history, listener counts, queue, requests, SFTP users, and the address and passwords of the streaming server.'
const noSongs =
  ' Songs are not copied either: they are in the data folder of the server, which only this station uses.'

/** Asks what to copy of a station, and copies it. `onCreated` gets the short name of the copy. */
export async function openStationCopyForm(
  record: ApiRecord,
  onCreated: (shortName: string) => void
): Promise<void> {
  const hasStorage = Number(record['media_storage_location_id']) > 0
  const fields = toFormFields(await loadBodySchema('post', '/api/admin/station/{id}/clone')).map(
    (field): FormField => {
      if (field.name === 'description') return { ...field, description: '' }
      if (field.name !== 'clone') return field
      const options = field.options
        .filter(({ value }) => value !== 'media_storage' || hasStorage)
        .map(({ value, label }) => ({ value, label: partNames[value] ?? label }))
      return { ...field, label: 'Copy', options, description: hasStorage ? notCopied : notCopied + noSongs }
    }
  )
  const start = {
    name: `${recordTextOf(record, 'name')} (copy)`,
    description: recordTextOf(record, 'description'),
    clone: ['playlists', 'mounts', ...(hasStorage ? ['media_storage'] : [])]
  }
  await openFormDialog({
    title: 'Copy station',
    select: () => fields,
    record: start,
    isNew: true,
    async save(body) {
      const { id } = await callApi('POST', `api/admin/station/${recordTextOf(record, 'id')}/clone`, { body })
      onCreated((await callApi('GET', `api/admin/station/${id}`)).short_name)
    }
  })
}
