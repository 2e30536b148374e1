import type { DocumentedResponse, OpenApiDocument, Operation, Schema } from './document.ts'

/** Where AzuraCast 0.23.7 answers otherwise than its OpenAPI document says. Cuewire follows its code. */
export interface Difference {
  readonly reason: string
  /** What is answered, in place of the documented schema. */
  readonly schema?: Schema
  /** The status, in place of the documented one. */
  readonly status?: number
  /** The content type, in place of the documented one. */
  readonly type?: string
  /** The path of its routes, if it is not the documented one. */
  readonly path?: string
}

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const number: Schema = { type: 'number' }
const any: Schema = {}
const list = (items: Schema): Schema => ({ type: 'array', items })
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties })
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const chart = object({ labels: list(string), datasets: list(any), alt: list(any) })
const shares = (key: string): Schema =>
  object({
    all: list(object({ [key]: string, listeners: any, connected_seconds: any })),
    top_listeners: chart,
    top_connected_time: chart
  })

const noStatus = 'documented as an action result; it returns data'

/** By operation id. */
export const differences: Readonly<Record<string, Difference>> = {
  getMe: {
    reason: noStatus,
    schema: object({
      id: integer,
      email: string,
      name: { ...string, nullable: true },
      locale: { ...string, nullable: true },
      show_24_hour_time: { type: 'boolean', nullable: true },
      roles: list(object({ id: integer, name: string })),
      avatar: object({
        url_32: string,
        url_64: string,
        url_128: string,
        service_name: any,
        service_url: any
      })
    })
  },
  getAccountListPasskeys: { reason: noStatus, schema: list(object({ id: any, name: string, links: any })) },
  getAccountGetPasskey: { reason: noStatus, schema: object({ id: any, name: string, links: any }) },
  getAccountWebAuthnRegister: { reason: noStatus, schema: object({}) },
  putAccountTwoFactor: {
    reason: 'without a code it returns a new secret',
    schema: object({ secret: string, totp_uri: string })
  },
  getDashboardCharts: {
    reason: noStatus,
    schema: object({
      average: object({ metrics: list(any), alt: list(any) }),
      unique: object({ metrics: list(any), alt: list(any) })
    })
  },
  getStationFileDirectories: {
    reason: noStatus,
    schema: object({ rows: list(object({ name: string, path: string })) })
  },
  putStationFileBatchAction: { reason: noStatus, schema: ref('Api_MediaBatchResult') },
  getStationPlaylistApplyTo: {
    reason: noStatus,
    schema: object({
      playlist: object({ id: integer, name: string }),
      directories: list(object({ path: string, name: string }))
    })
  },
  getStationPlaylistOrder: {
    reason: noStatus,
    schema: list(object({ id: integer, media: object({ id: integer, title: any, artist: any, links: any }) }))
  },
  putStationPlaylistOrder: { reason: 'it returns the order that was sent', schema: any },
  getStationProfileEdit: { reason: noStatus, schema: ref('Station') },
  getStationLiquidsoapConfig: {
    reason: noStatus,
    schema: object({ config: list(any), sections: list(string), contents: { type: 'object' } })
  },
  exportStationLiquidsoapConfig: { reason: 'it returns a file', type: 'application/octet-stream' },
  getStationReportBestAndWorst: {
    reason: noStatus,
    schema: object({
      bestAndWorst: object({
        best: list(
          object({ song: ref('Api_Song'), stat_start: number, stat_end: number, stat_delta: number })
        ),
        worst: list(
          object({ song: ref('Api_Song'), stat_start: number, stat_end: number, stat_delta: number })
        )
      }),
      mostPlayed: list(object({ song: ref('Api_Song'), num_plays: number }))
    })
  },
  getStationReportByBrowser: { reason: noStatus, schema: shares('browser') },
  getStationReportByClient: { reason: noStatus, schema: shares('client') },
  getStationReportByCountry: { reason: noStatus, schema: shares('country') },
  getStationReportByStream: { reason: noStatus, schema: shares('stream') },
  getStationReportByListeningTime: {
    reason: noStatus,
    schema: object({ all: list(object({ label: string, value: number })), chart })
  },
  getStationReportCharts: {
    reason: noStatus,
    schema: object({
      daily: object({ metrics: list(any), alt: list(any) }),
      day_of_week: object({ labels: list(string), metrics: list(any), alt: list(any) }),
      hourly: object({})
    })
  },
  getStationRequestsReport: {
    reason: noStatus,
    schema: list(
      object({ id: integer, timestamp: any, played_at: any, track: object({ title: any }), links: any })
    )
  },
  getStationMediaWaveform: {
    reason: 'it returns the JSON of audiowaveform',
    schema: object({ sample_rate: integer, data: list(integer) })
  },
  getStationSoundExchangeReport: {
    reason: 'the content type is text/csv or that of a file',
    type: 'application/octet-stream'
  },
  getWebhookTestLog: {
    reason: 'the path has webhook, not webhooks',
    path: '/station/{station_id}/webhook/{id}/test-log/{path}'
  },
  cloneWebhook: { reason: 'the status is 201', status: 201 },
  restartService: { reason: 'it takes no body; a custom field is documented' }
}

interface KeyDifference {
  readonly reason: string
  /** Replaces the schemas of keys; null removes a key. */
  readonly keys?: Readonly<Record<string, Schema | null>>
  /** Keys that are not documented. */
  readonly adds?: Readonly<Record<string, Schema>>
}

/** PHP renders an object without keys as an empty list. */
const byName: Schema = { type: ['object', 'array'] }
const byNameOrNull: Schema = { type: ['object', 'array', 'null'] }

const links = (...names: readonly string[]): Schema =>
  object(Object.fromEntries(['self', ...names].map(name => [name, string])))
const unnamed = 'keys that are not documented'

/** By the name of a schema. */
export const keyDifferences: Readonly<Record<string, KeyDifference>> = {
  Api_Song: {
    reason: 'custom_fields is an object by short name, and an empty list if there are none',
    keys: { custom_fields: byName }
  },
  Api_StationOnDemand: { reason: 'playlist is never set', keys: { playlist: null } },
  SftpUser: { reason: unnamed, adds: { links: links() } },
  StationHlsStream: { reason: unnamed, adds: { listeners: integer, links: links() } },
  StationMount: {
    reason: unnamed,
    adds: { intro_path: { ...string, nullable: true }, links: links('intro', 'listen') }
  },
  StationPlaylist: {
    reason: unnamed,
    adds: {
      short_name: string,
      num_songs: integer,
      total_length: number,
      links: {
        type: 'object',
        properties: {
          self: string,
          toggle: string,
          clone: string,
          export: object({ pls: string, m3u: string })
        }
      }
    }
  },
  StationStreamer: {
    reason: unnamed,
    adds: {
      art: string,
      has_custom_art: { type: 'boolean' },
      art_updated_at: integer,
      links: links('broadcasts', 'art')
    }
  },
  StationWebhook: {
    reason:
      'config and metadata are objects, and an empty list or null if they are unset; links is not documented',
    keys: { config: byNameOrNull, metadata: byNameOrNull, triggers: { type: ['array', 'null'] } },
    adds: { links: links('toggle', 'test') }
  }
}

/** Returns the document with the operations and answers of the code. */
export function applyDifferences(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.fromEntries(
    Object.entries(document.schemas).map(([name, schema]) => {
      const { keys = {}, adds } = keyDifferences[name] ?? {}
      const changed = replaceKeys(schema, keys)
      return [name, adds === undefined ? changed : { allOf: [changed, object(adds)] }]
    })
  )
  return { ...document, schemas, operations: document.operations.map(applyDifference) }
}

function applyDifference(operation: Operation): Operation {
  const { schema, type, status, path } = differences[operation.id] ?? {}
  const response: DocumentedResponse = {
    ...operation.response,
    ...(status === undefined ? {} : { status }),
    ...(schema === undefined ? {} : { schema, type: 'application/json' }),
    ...(type === undefined ? {} : { type, schema: null })
  }
  return { ...operation, response, path: path ?? operation.path }
}

/** Replaces keys in a schema and in the parts of an `allOf`. */
function replaceKeys(schema: Schema, keys: NonNullable<KeyDifference['keys']>): Schema {
  const { allOf, properties } = schema
  const changed: Record<string, unknown> = { ...schema }
  if (allOf !== undefined) changed['allOf'] = allOf.map((part: Schema) => replaceKeys(part, keys))
  if (properties !== undefined) {
    const kept = Object.entries<Schema>(properties).filter(([key]) => keys[key] !== null)
    changed['properties'] = Object.fromEntries(kept.map(([key, value]) => [key, keys[key] ?? value]))
  }
  return changed
}
