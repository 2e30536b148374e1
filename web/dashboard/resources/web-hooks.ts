import * as v from 'valibot'

import { loadRawSchema } from '../forms/body-schemas.ts'
import { bodySchema, type FormField, toFormFields } from '../forms/form-field.ts'
import { formatCount } from '../ui/text.ts'
import { countRecords, type ResourceView, textOf, toText } from './resource.ts'

const path = '/api/station/{station_id}/webhooks'

/** The settings and triggers of each type of web hook, as the API describes them. */
const typesSchema = v.object({
  properties: v.object({
    config: v.object({
      'x-types': v.record(v.string(), v.object({ settings: bodySchema, triggers: v.array(v.string()) }))
    })
  })
})

/** The fields that all types have, and the settings of the chosen type. */
async function openFields(fields: FormField[]) {
  const { properties } = v.parse(typesSchema, await loadRawSchema('post', path))
  const types = properties.config['x-types']
  const typeOptions = Object.keys(types).map(name => ({ value: name, label: name.replaceAll('_', ' ') }))
  const find = (name: string) => fields.filter(field => field.name === name)
  return (read: (name: string) => unknown) => {
    const type = types[toText(read('type')) || (typeOptions[0]?.value ?? '')]
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

const createdSchema = v.object({ config: v.array(v.object({ key: v.string(), value: v.unknown() })) })

/** The web hooks of a station, which the page shows as cards. */
export const webHooks: ResourceView = {
  title: 'Web hooks',
  noun: 'web hook',
  emptyText: 'This station has no web hooks.',
  paths: { list: path, one: '/api/station/{station_id}/webhook/{id}' },
  write: 'manageHooks',
  columns: [{ title: 'Name', view: record => textOf(record, 'name') }],
  nameOf: record => textOf(record, 'name') || textOf(record, 'type'),
  openFields,
  describeLoss: async (record, station) => {
    const count = await countRecords(`api/station/${station}/webhook/${textOf(record, 'id')}/deliveries`)
    return `Its settings, its secrets and the log of ${formatCount(count ?? 0, 'delivery', 'deliveries')} are lost, and pending deliveries are not sent.`
  },
  findSecret: response => {
    const { success, output } = v.safeParse(createdSchema, response)
    const secret = success ? output.config.find(({ key }) => key === 'signing_secret')?.value : undefined
    return typeof secret === 'string' && secret !== '' ? ['The signing secret of the web hook', secret] : null
  }
}
