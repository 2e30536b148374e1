import type { JsonSchema } from '../../fields/field.ts'

/** The schemas of single values. */
export const string: JsonSchema = { type: 'string' }
export const int64: JsonSchema = { type: 'integer', format: 'int64' }
export const boolean: JsonSchema = { type: 'boolean' }
export const nullableInt64 = { ...int64, type: ['integer', 'null'] }
export const unixSeconds = { ...int64, description: 'Unix seconds' }
const html = { ...string, description: 'HTML' }

/** Refers to a record of the API by its name. */
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
/** A list of any length. */
export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** An object with exactly these keys. */
export function exactly(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** An object with exactly one of the alternatives, all common and any optional properties. */
export function oneOf(
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
  song: ref('Song')
}
const played = { sh_id: int64, ...play, streamer: string }
const cued = { cued_at: unixSeconds, ...play }

const source = {
  id: int64,
  name: string,
  url: string,
  bitrate: int64,
  format: string,
  listeners: ref('Listeners')
}

const problem = exactly({
  field: { ...string, description: 'A dotted path into the body.' },
  code: { ...string, examples: ['out_of_range'] },
  message: string
})

/** The fields of an action result. */
export const actionProperties = { success: boolean, message: string, formatted_message: html }
/** The schema of an action result with more fields. */
export const actionSchema = (fields: Readonly<Record<string, JsonSchema>>) =>
  exactly({ ...actionProperties, ...fields })
const updated = 'Record updated successfully.'
const notFound = 'Record not found.'

/** The fields of a now-playing document of the REST API. */
export const nowPlayingFields = {
  station: ref('StationSummary'),
  listeners: ref('Listeners'),
  live: exactly({ is_live: boolean, streamer_name: string, broadcast_start: string, art: string }),
  now_playing: ref('CurrentItem'),
  playing_next: { oneOf: [ref('CuedItem'), { type: 'null' }] },
  song_history: arrayOf(ref('PlayedItem')),
  is_online: boolean,
  cache: string
}

/** The schemas of records that belong to no resource, by name. */
export const sharedSchemas: Readonly<Record<string, JsonSchema>> = {
  ActionResult: {
    ...exactly(actionProperties),
    examples: [{ success: true, message: updated, formatted_message: updated }]
  },
  PlaylistImport: actionSchema({
    import_results: arrayOf(
      exactly({
        path: { ...string, description: 'The entry of the list.' },
        match: { ...nullableInt64, description: 'The id of the song; null: none.' }
      })
    )
  }),
  Error: {
    type: 'object',
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
  Song: exactly(song),
  Listeners: exactly({ total: int64, unique: int64, current: int64 }),
  Mount: exactly({ ...source, path: string, is_default: boolean }),
  Remote: exactly(source),
  StationSummary: exactly({
    id: int64,
    ...fieldsOf(string, 'name', 'shortcode', 'description', 'frontend', 'backend', 'timezone'),
    ...fieldsOf(string, 'listen_url', 'url', 'public_player_url', 'playlist_pls_url', 'playlist_m3u_url'),
    is_public: boolean,
    mounts: arrayOf(ref('Mount')),
    remotes: arrayOf(ref('Remote')),
    hls_enabled: boolean,
    hls_is_default: boolean,
    hls_url: string,
    hls_listeners: int64
  }),
  PlayedItem: exactly(played),
  DetailedPlay: exactly({
    ...played,
    listeners_start: int64,
    listeners_end: { ...int64, description: 'While it plays, the current count.' },
    delta_total: { ...int64, description: 'listeners_end - listeners_start' },
    delta_positive: { ...int64, description: 'The sum of all rises.' },
    delta_negative: { ...int64, description: 'The sum of all falls.' },
    listeners_peak: int64,
    unique_listeners: { ...int64, description: 'Distinct listeners during the play.' },
    is_visible: { ...boolean, description: 'Whether listeners see it.' }
  }),
  ListenerSeries: exactly({
    step: { ...int64, description: 'Seconds from one point to the next.' },
    points: arrayOf(
      exactly({
        at: { ...int64, description: 'Unix seconds of the first minute of the step.' },
        total: { ...int64, description: 'At the end of the step.' },
        unique: { ...int64, description: 'Distinct listeners at the end of the step.' },
        most: { ...int64, description: 'The highest total within the step.' },
        fewest: { ...int64, description: 'The lowest total within the step.' }
      })
    )
  }),
  CurrentItem: exactly({ ...played, elapsed: int64, remaining: int64 }),
  CuedItem: exactly(cued),
  NowPlaying: exactly(nowPlayingFields),
  EventSong: exactly(eventSong),
  NowPlayingEvent: exactly({
    station: ref('StationSummary'),
    listeners: ref('Listeners'),
    live: exactly({
      is_live: boolean,
      streamer_name: string,
      broadcast_start: { ...unixSeconds, type: ['integer', 'null'] },
      art: { type: ['string', 'null'] }
    }),
    now_playing: exactly({ ...played, song: ref('EventSong'), elapsed: int64, remaining: int64 }),
    playing_next: { oneOf: [exactly({ ...cued, song: ref('EventSong') }), { type: 'null' }] },
    song_history: arrayOf(exactly({ ...played, song: ref('EventSong') })),
    is_online: boolean,
    cache: string
  }),
  QueueItem: exactly({
    ...cued,
    links: exactly({ self: { ...string, format: 'uri', description: 'Its last segment is the id.' } }),
    sent_to_autodj: boolean,
    is_played: boolean,
    autodj_custom_uri: string,
    log: { ...arrayOf({}), description: 'Why the AutoDJ chose it.' }
  }),
  PreviewItem: exactly({
    played_at: { ...int64, description: 'Unix seconds of its start.' },
    ends_at: int64,
    duration: { ...int64, description: 'Seconds; 0: unknown.' },
    playlist: string,
    is_request: boolean,
    is_jingle: boolean,
    song: { oneOf: [ref('Song'), { type: 'null' }], description: 'Null: silence.' },
    log: { ...arrayOf({}), description: 'Why the AutoDJ chose it; empty if it is in the queue.' }
  }),
  ScheduleEntry: exactly({
    id: { ...int64, description: 'The id of the schedule item.' },
    type: { ...string, enum: ['playlist'] },
    ...fieldsOf(string, 'name', 'title', 'description'),
    start_timestamp: int64,
    start: { ...string, format: 'date-time', description: 'Local time of the station.' },
    end_timestamp: int64,
    end: { ...string, format: 'date-time' },
    is_now: boolean
  }),
  OnDemandSong: exactly({
    track_id: { ...string, description: 'The id of the song.' },
    media: ref('Song'),
    download_url: { ...string, examples: ['/api/station/1/ondemand/download/12'] }
  }),
  RequestableSong: exactly({
    request_id: { ...string, description: 'The id of the song.', examples: ['12'] },
    request_url: { ...string, description: 'POST here.', examples: ['/api/station/1/request/12'] },
    song: ref('Song')
  }),
  SongRequest: exactly({
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
    song: ref('Song'),
    ip: { ...string, description: 'Address of the listener (IPv6: network); "" without permission.' }
  })
}
