import * as v from 'valibot'

import { validatedField, type Field, formatCheckMessage, unauditedField } from '../../model/fields/field.ts'
import { namedValuesField, type NamedValue } from '../../model/fields/named-values.ts'
import { defineResource, type ResourceHooks } from '../core/resource.ts'
import { hlsStreamHooks, hlsStreamsResource, streamResourceRoutes } from './hls-streams.ts'
import { mountIntroRoutes } from './mount-intro.ts'

/** Parses text with a JSON object; other values are left to the validation of named values. */
function parseConfigText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (value.trim() === '') return []
  try {
    return JSON.parse(value)
  } catch {
    return null
  }
}

const config = namedValuesField({ max: 50, about: '' })
const configText = validatedField<NamedValue[]>(
  v.pipe(
    v.unknown(),
    v.transform(parseConfigText),
    v.check(value => value !== null, formatCheckMessage('invalid_format', 'must be a JSON object.')),
    config.input
  ),
  {
    schema: { type: 'string' },
    accepts: { type: ['string', 'object', 'array'], items: {} },
    about: 'Settings for the streaming server, a JSON object as text; stored unchanged.',
    example: '{"burst-size":65536}'
  }
)

/** Without the default in the schema, which is that of the text. */
const configField: Field<NamedValue[]> = unauditedField({ ...configText, fallback: [] })

/**
 * The mounts of a station under AzuraCast's paths. They are the records that the interface calls HLS streams: one
 * table, so a mount that was written under one path is read under the other.
 */
const mounts = defineResource({
  ...hlsStreamsResource,
  name: 'StationMount',
  title: 'mount',
  tag: 'Mounts',
  paths: { list: '/api/station/:station_id/mounts', one: '/api/station/:station_id/mount/:id' },
  fields: { ...hlsStreamsResource.fields, frontend_config: configField }
})

const hooks: ResourceHooks<typeof mounts.fields> = {
  ...hlsStreamHooks,
  render: async (rows, context) => {
    const rendered = (await hlsStreamHooks.render?.(rows, context)) ?? []
    return rows.map((row, index) => ({
      ...rendered[index],
      frontend_config: renderConfig(row.frontend_config)
    }))
  }
}

const renderConfig = (values: readonly NamedValue[]) =>
  values.length === 0 ? '' : JSON.stringify(Object.fromEntries(values.map(({ key, value }) => [key, value])))

/** The routes of the mounts that match an SQL condition. */
export const mountRoutesWhere = (only: string) => streamResourceRoutes({ ...mounts, only }, hooks)

export const mountRoutes = [...streamResourceRoutes(mounts, hooks), ...mountIntroRoutes]
