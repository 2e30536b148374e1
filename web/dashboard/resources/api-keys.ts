import { callApi } from '../api/call-api.ts'
import { loadBodySchema } from '../forms/body-schemas.ts'
import type { FormField } from '../forms/form-field.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { loadRolePresets } from '../people/grants.ts'
import { permissionChoicesView } from '../people/permission-choices.ts'
import { type StationGrant, stationGrantsView } from '../people/station-grants.ts'
import { type Chip, chipView } from '../ui/controls.ts'
import { formatAge, formatCount } from '../ui/text.ts'
import { startCopyWith, type ResourceView, recordTextOf } from './resource.ts'

const path = '/api/v1/main/api-keys'

const permissionsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])
const grantsIn = (value: unknown): readonly StationGrant[] => (Array.isArray(value) ? value : [])

function describePermissions(record: ApiRecord): string {
  const everywhere = permissionsIn(record['permissions'])
  const byStation = grantsIn(record['station_permissions'])
  const names = everywhere.length > 3 ? [formatCount(everywhere.length, 'permission')] : everywhere
  return [
    ...names,
    ...(byStation.length > 0 ? [`for ${formatCount(byStation.length, 'station')}`] : [])
  ].join(', ')
}

function keyChip(record: ApiRecord): Chip {
  if (record['revoked_at'] !== 0) return { text: 'Revoked', tone: 'warning' }
  const expiresAt = Number(record['expires_at'])
  if (expiresAt !== 0 && expiresAt * 1_000 < Date.now()) return { text: 'Expired', tone: 'warning' }
  return { text: 'Valid', tone: 'good' }
}

const lastUse = (record: ApiRecord): string =>
  record['last_used_at'] === 0 ? 'never used' : `last used ${formatAge(Number(record['last_used_at']))}`

/** A key has permissions for the installation and all stations, and more for single stations. */
async function openFields(fields: FormField[]) {
  const [listed, { properties }, presets] = await Promise.all([
    callApi('GET', 'api/nowplaying'),
    loadBodySchema('post', path),
    loadRolePresets()
  ])
  const grant = properties?.['station_permissions']?.items?.properties
  const ofStation = grant?.['permissions']?.items?.enum?.map(String) ?? []
  const stations = listed.map(({ station: { id, name } }) => ({ id, name }))
  const shown = fields.flatMap((field): FormField[] => {
    if (field.name === 'expires_at')
      return [{ ...field, kind: 'moment', description: 'When it expires; empty: never.' }]
    if (field.name !== 'permissions') return [field]
    const everywhere: FormField = {
      ...field,
      kind: 'special',
      view: ({ value, ...options }) =>
        permissionChoicesView({
          ...options,
          options: field.options,
          chosen: permissionsIn(value),
          presets
        })
    }
    const single: FormField = {
      ...field,
      name: 'station_permissions',
      label: 'Station permissions',
      description: 'Permissions for single stations.',
      kind: 'special',
      view: ({ value, ...options }) =>
        stationGrantsView({
          ...options,
          grants: grantsIn(value),
          stations,
          permissions: ofStation.map(name => ({ value: name, label: name })),
          presets
        })
    }
    return [everywhere, single]
  })
  return () => shown
}

/** The keys of programs. A key is shown once; it cannot be changed, only revoked. */
export const apiKeysResourceView: ResourceView = {
  title: 'API keys',
  noun: 'API key',
  emptyText: 'There are no API keys.',
  paths: { list: path, one: `${path}/{key}` },
  rowsKey: 'api_keys',
  write: 'manageKeys',
  columns: [
    { title: 'Name', view: record => recordTextOf(record, 'name') },
    { title: 'Starts with', style: 'wide', view: record => recordTextOf(record, 'identifier').slice(0, 8) },
    { title: 'Permissions', style: 'wide', view: describePermissions },
    { title: 'Use', style: 'wide', view: lastUse },
    { title: 'State', view: record => chipView(keyChip(record)) }
  ],
  nameOf: record => recordTextOf(record, 'name'),
  openFields,
  canEdit: false,
  toCopy: startCopyWith(record => ({ name: `${recordTextOf(record, 'name')} (copy)`, expires_at: 0 })),
  describeLoss: record =>
    `Programs that use it are refused within a second. It starts with ${recordTextOf(record, 'identifier').slice(0, 8)} and was ${lastUse(record)}. This cannot be undone.`,
  removal: { verb: 'Revoke', path: `${path}/revoke/{key}` },
  canRemove: record => record['revoked_at'] === 0,
  findSecret: ({ key }) => (typeof key === 'string' ? ['The new API key', key] : null)
}
