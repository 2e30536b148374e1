import { loadBodySchema } from '../forms/body-schemas.ts'
import { type FormField, toFormFields } from '../forms/form-field.ts'
import { toNamedPairs } from '../forms/form-values.ts'
import { formatCount } from '../ui/text.ts'
import { countRecords, type ResourceView, recordTextOf, toDisplayText } from './resource.ts'

const path = '/api/station/{station_id}/webhooks'

/** The fields that all types have, and the settings of the chosen type. */
async function openFields(fields: FormField[]) {
  const { properties } = await loadBodySchema('post', path)
  const types = properties?.['config']?.['x-types'] ?? {}
  const typeOptions = Object.keys(types).map(name => ({ value: name, label: name.replaceAll('_', ' ') }))
  const find = (name: string) => fields.filter(field => field.name === name)
  return (read: (name: string) => unknown) => {
    const type = types[toDisplayText(read('type')) || (typeOptions[0]?.value ?? '')]
    const settings = type === undefined ? [] : toFormFields(type.settings, 'config.')
    return [
      ...find('name'),
      ...find('type').map(field => ({ ...field, options: typeOptions })),
      ...settings,
      ...find('triggers').map(field => ({
        ...field,
        options: field.options.filter(({ value }) => type?.triggers.includes(value) ?? true)
      })),
      ...find('is_enabled')
    ]
  }
}

/** The web hooks of a station, which the page shows as cards. */
export const webHooksResourceView: ResourceView = {
  title: 'Web hooks',
  noun: 'web hook',
  emptyText: 'This station has no web hooks.',
  paths: { list: path, one: '/api/station/{station_id}/webhook/{id}' },
  write: 'manageHooks',
  columns: [{ title: 'Name', view: record => recordTextOf(record, 'name') }],
  nameOf: record => recordTextOf(record, 'name') || recordTextOf(record, 'type'),
  openFields,
  describeLoss: async (record, station) => {
    const count = await countRecords(
      `api/station/${station}/webhook/${recordTextOf(record, 'id')}/deliveries`
    )
    return `Its settings, its secrets and the log of ${formatCount(count ?? 0, 'delivery', 'deliveries')} are lost, and pending deliveries are not sent.`
  },
  findSecret: ({ config }) => {
    const secret = toNamedPairs(config).find(({ key }) => key === 'signing_secret')?.value
    return typeof secret === 'string' && secret !== '' ? ['The signing secret of the web hook', secret] : null
  }
}
