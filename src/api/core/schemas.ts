import type { JsonSchema } from '../../model/fields/field.ts'

const schemaNames = new WeakMap<JsonSchema, string>()

/** Gives a schema its name and its description in the OpenAPI document. A copy of it (`{ ...schema }`) has no name. */
export function namedSchema(name: string, description: string, schema: JsonSchema): JsonSchema {
  const result = { ...schema, description }
  schemaNames.set(result, name)
  return result
}

/** The name of a schema, or of the shared schema that it refers to; null without one. */
export function schemaName(schema: JsonSchema): string | null {
  const { $ref } = schema
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : (schemaNames.get(schema) ?? null)
}

/** The schemas of single values. */
export const string: JsonSchema = { type: 'string' }
export const int64: JsonSchema = { type: 'integer', format: 'int64' }
export const boolean: JsonSchema = { type: 'boolean' }
export const nullableInt64 = { ...int64, type: ['integer', 'null'] }
export const unixSeconds = { ...int64, description: 'Unix seconds' }
const html = { ...string, description: 'HTML' }

/** Refers to one of `sharedSchemas` by its name. */
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
const about = (description: string, schema: JsonSchema): JsonSchema => ({ ...schema, description })

/** A list of any length. */
export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** An object with exactly these keys. */
export function exactObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** An object with exactly one of the alternatives, all common and any optional properties. */
export function oneOfObjects(
  alternatives: Readonly<Record<string, JsonSchema>>,
  common: Readonly<Record<string, JsonSchema>> = {},
  optional: Readonly<Record<string, JsonSchema>> = {}
): JsonSchema {
  return {
    oneOf: Object.entries(alternatives).map(([name, schema]) => ({
      type: 'object',
      properties: { ...common, ...optional, [name]: schema },
      required: [...Object.keys(common), name]
    }))
  }
}

const fieldsOf = (schema: JsonSchema, ...names: string[]) =>
  Object.fromEntries(names.map(name => [name, schema]))

const song = {
  text: { ...string, examples: ['Kimiko Ishizaka - Aria'] },
  ...fieldsOf(string, 'artist', 'title', 'album', 'genre', 'isrc', 'lyrics'),
  id: { ...string, description: '32 hexadecimal digits, the same for the same artist and title.' },
  art: { ...string, format: 'uri' },
  custom_fields: {
    ...arrayOf(string),
    description: 'The values of all custom fields, in the order of their ids; "" if unset.'
  }
}

const eventSong = {
  ...song,
  custom_fields: {
    oneOf: [
      { type: 'object', additionalProperties: { type: ['string', 'null'] } },
      { type: 'array', items: string, maxItems: 0 }
    ],
    description: 'The values of all custom fields by short name, null if unset; [] without custom fields.'
  }
}

/** What a played song and a queued one have in common. */
const play = {
  played_at: unixSeconds,
  duration: { ...int64, description: 'Seconds' },
  playlist: string,
  is_request: boolean,
  song: schemaRef('Song')
}
const played = { sh_id: int64, ...play, streamer: string }
const current = { ...played, elapsed: int64, remaining: int64 }
const cued = { cued_at: unixSeconds, ...play }

const source = {
  id: int64,
  name: string,
  url: string,
  bitrate: int64,
  format: string,
  listeners: schemaRef('Listeners')
}

const problem = exactObject({
  field: { ...string, description: 'A dotted path into the body.' },
  code: { ...string, examples: ['out_of_range'] },
  message: string
})

/** The fields of an action result. */
export const actionResultProperties = { success: boolean, message: string, formatted_message: html }
/** The schema of an action result with more fields. */
export const actionResultSchema = (fields: Readonly<Record<string, JsonSchema>>) =>
  exactObject({ ...actionResultProperties, ...fields })
const updated = 'Record updated successfully.'
const notFound = 'Record not found.'

/** The fields of a now-playing document of the REST API. */
export const nowPlayingFieldSchemas = {
  station: schemaRef('StationSummary'),
  listeners: schemaRef('Listeners'),
  live: schemaRef('Live'),
  now_playing: schemaRef('CurrentItem'),
  playing_next: { oneOf: [schemaRef('CuedItem'), { type: 'null' }] },
  song_history: arrayOf(schemaRef('PlayedItem')),
  is_online: boolean,
  cache: string
}

/** The schemas that several routes have, by name. */
export const sharedSchemas: Readonly<Record<string, JsonSchema>> = {
  ActionResult: {
    ...exactObject(actionResultProperties),
    description: 'The result of a change.',
    examples: [{ success: true, message: updated, formatted_message: updated }]
  },
  PlaylistImport: about(
    'Which songs the entries of a list are.',
    actionResultSchema({
      import_results: arrayOf(
        exactObject({
          path: { ...string, description: 'The entry of the list.' },
          match: { ...nullableInt64, description: 'The id of the song; null: none.' }
        })
      )
    })
  ),
  Error: {
    type: 'object',
    description: 'Why a request failed.',
    properties: {
      code: { ...int64, description: 'The HTTP status.' },
      type: { ...string, examples: ['NotFoundException'] },
      message: string,
      formatted_message: html,
      extra_data: {
        type: 'object',
        properties: { errors: arrayOf(problem), request_id: string },
        description:
          'Every problem of a body at once, on 400 and 409, and on 413 and 507 of uploads; the request id, on 500.'
      },
      success: { type: 'boolean', const: false },
      status: { type: 'string', const: 'error', description: 'On account-level calls only.' }
    },
    required: ['code', 'type', 'message', 'formatted_message', 'extra_data', 'success'],
    examples: [
      {
        code: 404,
        type: 'NotFoundException',
        message: notFound,
        formatted_message: notFound,
        extra_data: {},
        success: false
      }
    ]
  },
  Song: about('A song, as it is shown.', exactObject(song)),
  Listeners: about('Numbers of listeners now.', exactObject({ total: int64, unique: int64, current: int64 })),
  NowPlayingMount: about(
    'A mount as listeners see it.',
    exactObject({ ...source, path: string, is_default: boolean })
  ),
  NowPlayingRemote: about('A remote as listeners see it.', exactObject(source)),
  StationSummary: about(
    'A station as listeners see it.',
    exactObject({
      id: int64,
      ...fieldsOf(string, 'name', 'shortcode', 'description', 'frontend', 'backend', 'timezone'),
      ...fieldsOf(string, 'listen_url', 'url', 'public_player_url', 'playlist_pls_url', 'playlist_m3u_url'),
      is_public: boolean,
      mounts: arrayOf(schemaRef('NowPlayingMount')),
      remotes: arrayOf(schemaRef('NowPlayingRemote')),
      hls_enabled: boolean,
      hls_is_default: boolean,
      hls_url: string,
      hls_listeners: int64
    })
  ),
  Live: about(
    'The live broadcast.',
    exactObject({
      is_live: boolean,
      streamer_name: string,
      broadcast_start: { ...string, description: 'Unix seconds; empty: none.' },
      art: string
    })
  ),
  PlayedItem: about('A play of the history.', exactObject(played)),
  DetailedPlay: about(
    'A play, with its listeners.',
    exactObject({
      ...played,
      listeners_start: int64,
      listeners_end: { ...int64, description: 'While it plays, the current count.' },
      delta_total: { ...int64, description: 'listeners_end - listeners_start' },
      delta_positive: { ...int64, description: 'The sum of all rises.' },
      delta_negative: { ...int64, description: 'The sum of all falls.' },
      listeners_peak: int64,
      unique_listeners: { ...int64, description: 'Distinct listeners during the play.' },
      is_visible: { ...boolean, description: 'Whether listeners see it.' }
    })
  ),
  ListenerSeries: about(
    'Numbers of listeners over time.',
    exactObject({
      step: { ...int64, description: 'Seconds from one point to the next.' },
      points: arrayOf(
        exactObject({
          at: { ...int64, description: 'Unix seconds of the first minute of the step.' },
          total: { ...int64, description: 'At the end of the step.' },
          unique: { ...int64, description: 'Distinct listeners at the end of the step.' },
          most: { ...int64, description: 'The highest total within the step.' },
          fewest: { ...int64, description: 'The lowest total within the step.' }
        })
      )
    })
  ),
  CurrentItem: about('The current song of a station.', exactObject(current)),
  CuedItem: about('The next song of a station.', exactObject(cued)),
  NowPlaying: about('What a station plays now.', exactObject(nowPlayingFieldSchemas)),
  EventSong: about('A song, as the live protocol shows it.', exactObject(eventSong)),
  EventLive: about(
    'The live broadcast, as the live protocol shows it.',
    exactObject({
      is_live: boolean,
      streamer_name: string,
      broadcast_start: { ...unixSeconds, type: ['integer', 'null'] },
      art: { type: ['string', 'null'] }
    })
  ),
  EventCurrentItem: about(
    'The current song of a station, as the live protocol shows it.',
    exactObject({ ...current, song: schemaRef('EventSong') })
  ),
  EventCuedItem: about(
    'The next song of a station, as the live protocol shows it.',
    exactObject({ ...cued, song: schemaRef('EventSong') })
  ),
  EventPlayedItem: about(
    'A play of the history, as the live protocol shows it.',
    exactObject({ ...played, song: schemaRef('EventSong') })
  ),
  NowPlayingEvent: about(
    'What a station plays now, as the live protocol shows it.',
    exactObject({
      station: schemaRef('StationSummary'),
      listeners: schemaRef('Listeners'),
      live: schemaRef('EventLive'),
      now_playing: schemaRef('EventCurrentItem'),
      playing_next: { oneOf: [schemaRef('EventCuedItem'), { type: 'null' }] },
      song_history: arrayOf(schemaRef('EventPlayedItem')),
      is_online: boolean,
      cache: string
    })
  ),
  QueueItem: about(
    'A song that is queued.',
    exactObject({
      ...cued,
      links: exactObject({ self: { ...string, format: 'uri', description: 'Its last segment is the id.' } }),
      sent_to_autodj: boolean,
      is_played: boolean,
      autodj_custom_uri: string,
      log: { ...arrayOf({}), description: 'Why the AutoDJ chose it.' }
    })
  ),
  PreviewItem: about(
    'A song that will be played if nothing changes.',
    exactObject({
      played_at: { ...int64, description: 'Unix seconds of its start.' },
      ends_at: int64,
      duration: { ...int64, description: 'Seconds; 0: unknown.' },
      playlist: string,
      is_request: boolean,
      is_jingle: boolean,
      song: { oneOf: [schemaRef('Song'), { type: 'null' }], description: 'Null: silence.' },
      log: { ...arrayOf({}), description: 'Why the AutoDJ chose it; empty if it is in the queue.' }
    })
  ),
  ScheduleEntry: about(
    'One time that a playlist is scheduled.',
    exactObject({
      id: { ...int64, description: 'The id of the schedule item.' },
      type: { ...string, enum: ['playlist'] },
      ...fieldsOf(string, 'name', 'title', 'description'),
      start_timestamp: int64,
      start: { ...string, format: 'date-time', description: 'Local time of the station.' },
      end_timestamp: int64,
      end: { ...string, format: 'date-time' },
      is_now: boolean
    })
  ),
  OnDemandSong: about(
    'A song that listeners may download.',
    exactObject({
      track_id: { ...string, description: 'The id of the song.' },
      media: schemaRef('Song'),
      download_url: { ...string, examples: ['/api/station/1/ondemand/download/12'] }
    })
  ),
  RequestableSong: about(
    'A song that listeners may request.',
    exactObject({
      request_id: { ...string, description: 'The id of the song.', examples: ['12'] },
      request_url: { ...string, description: 'POST here.', examples: ['/api/station/1/request/12'] },
      song: schemaRef('Song')
    })
  ),
  SongRequest: about(
    'A request of a listener.',
    exactObject({
      id: int64,
      timestamp: { ...int64, description: 'Unix seconds of the request.' },
      due_at: { ...int64, description: 'Unix seconds; not played earlier.' },
      skip_delay: boolean,
      state: {
        ...string,
        enum: ['pending', 'queued', 'aired', 'cancelled', 'expired'],
        description: 'A request that is not queued within three hours expires.'
      },
      played_at: { ...int64, description: 'Unix seconds; 0: not played.' },
      media_id: int64,
      song: schemaRef('Song'),
      ip: { ...string, description: 'Address of the listener (IPv6: network); "" without permission.' }
    })
  )
}
