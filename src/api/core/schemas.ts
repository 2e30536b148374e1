import type { JsonSchema } from '../../fields/field.ts'

const text: JsonSchema = { type: 'string' }
const whole: JsonSchema = { type: 'integer', format: 'int64' }
const truth: JsonSchema = { type: 'boolean' }
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
const many = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** An object with exactly these keys. */
export function exactly(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** An object with exactly one of these, beside what all have, and what all may have. */
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

const song = {
  text: { ...text, examples: ['Kimiko Ishizaka - Aria'] },
  artist: text,
  title: text,
  album: text,
  genre: text,
  isrc: text,
  lyrics: text,
  id: { ...text, description: '32 hexadecimal digits, the same for the same artist and title.' },
  art: { ...text, format: 'uri' },
  custom_fields: {
    ...many(text),
    description: 'The values of all custom fields, in the order of their ids; "" where unset.'
  }
}

const eventSong = {
  ...song,
  custom_fields: {
    oneOf: [
      { type: 'object', additionalProperties: { type: ['string', 'null'] } },
      { type: 'array', items: text, maxItems: 0 }
    ],
    description: 'The values of all custom fields by short name, null where unset; [] where there are none.'
  }
}

const played = {
  sh_id: whole,
  played_at: { ...whole, description: 'Unix seconds' },
  duration: { ...whole, description: 'Seconds' },
  playlist: text,
  streamer: text,
  is_request: truth,
  song: ref('Song')
}

const cued = {
  cued_at: { ...whole, description: 'Unix seconds' },
  played_at: { ...whole, description: 'Unix seconds' },
  duration: { ...whole, description: 'Seconds' },
  playlist: text,
  is_request: truth,
  song: ref('Song')
}

const source = {
  id: whole,
  name: text,
  url: text,
  bitrate: whole,
  format: text,
  listeners: ref('Listeners')
}

const problem = exactly({
  field: { ...text, description: 'A dotted path into the body.' },
  code: { ...text, examples: ['out_of_range'] },
  message: text
})

/** Schemas of records that belong to no resource, by name. */
export const schemas: Readonly<Record<string, JsonSchema>> = {
  ActionResult: {
    ...exactly({ success: truth, message: text, formatted_message: { ...text, description: 'HTML' } }),
    examples: [
      {
        success: true,
        message: 'Record updated successfully.',
        formatted_message: 'Record updated successfully.'
      }
    ]
  },
  PlaylistImport: {
    ...exactly({
      success: truth,
      message: text,
      formatted_message: { ...text, description: 'HTML' },
      import_results: many(
        exactly({
          path: { ...text, description: 'What the list names.' },
          match: {
            type: ['integer', 'null'],
            format: 'int64',
            description: 'The id of the song; null: none.'
          }
        })
      )
    })
  },
  Error: {
    type: 'object',
    properties: {
      code: { ...whole, description: 'The HTTP status.' },
      type: { ...text, examples: ['NotFoundException'] },
      message: text,
      formatted_message: { ...text, description: 'HTML' },
      extra_data: {
        type: 'object',
        properties: { errors: many(problem), request_id: text },
        description: 'Every problem of a body at once, on 400 and 409; the request id, on 500.'
      },
      success: { type: 'boolean', const: false },
      status: { type: 'string', const: 'error', description: 'On account-level calls only.' }
    },
    required: ['code', 'type', 'message', 'formatted_message', 'extra_data', 'success'],
    examples: [
      {
        code: 404,
        type: 'NotFoundException',
        message: 'Record not found.',
        formatted_message: 'Record not found.',
        extra_data: {},
        success: false
      }
    ]
  },
  Song: exactly(song),
  Listeners: exactly({ total: whole, unique: whole, current: whole }),
  Mount: exactly({ ...source, path: text, is_default: truth }),
  Remote: exactly(source),
  StationSummary: exactly({
    id: whole,
    name: text,
    shortcode: text,
    description: text,
    frontend: text,
    backend: text,
    timezone: text,
    listen_url: text,
    url: text,
    public_player_url: text,
    playlist_pls_url: text,
    playlist_m3u_url: text,
    is_public: truth,
    mounts: many(ref('Mount')),
    remotes: many(ref('Remote')),
    hls_enabled: truth,
    hls_is_default: truth,
    hls_url: text,
    hls_listeners: whole
  }),
  PlayedItem: exactly(played),
  DetailedPlay: exactly({
    ...played,
    listeners_start: whole,
    listeners_end: { ...whole, description: 'So far, while it plays.' },
    delta_total: { ...whole, description: 'listeners_end - listeners_start' },
    delta_positive: { ...whole, description: 'The sum of all rises.' },
    delta_negative: { ...whole, description: 'The sum of all falls.' },
    listeners_peak: whole,
    unique_listeners: { ...whole, description: 'Distinct listeners who were connected at any time.' },
    is_visible: { ...truth, description: 'Whether listeners are shown it.' }
  }),
  ListenerSeries: exactly({
    step: { ...whole, description: 'Seconds from one point to the next.' },
    points: many(
      exactly({
        at: { ...whole, description: 'Unix seconds of the first minute of the step.' },
        total: { ...whole, description: 'At the end of the step.' },
        unique: { ...whole, description: 'Distinct ones, at the end of the step.' },
        most: { ...whole, description: 'The highest total within the step.' },
        fewest: { ...whole, description: 'The lowest total within the step.' }
      })
    )
  }),
  CurrentItem: exactly({ ...played, elapsed: whole, remaining: whole }),
  CuedItem: exactly(cued),
  NowPlaying: exactly({
    station: ref('StationSummary'),
    listeners: ref('Listeners'),
    live: exactly({ is_live: truth, streamer_name: text, broadcast_start: text, art: text }),
    now_playing: ref('CurrentItem'),
    playing_next: { oneOf: [ref('CuedItem'), { type: 'null' }] },
    song_history: many(ref('PlayedItem')),
    is_online: truth,
    cache: text
  }),
  EventSong: exactly(eventSong),
  NowPlayingEvent: exactly({
    station: ref('StationSummary'),
    listeners: ref('Listeners'),
    live: exactly({
      is_live: truth,
      streamer_name: text,
      broadcast_start: { type: ['integer', 'null'], format: 'int64', description: 'Unix seconds' },
      art: { type: ['string', 'null'] }
    }),
    now_playing: exactly({ ...played, song: ref('EventSong'), elapsed: whole, remaining: whole }),
    playing_next: { oneOf: [exactly({ ...cued, song: ref('EventSong') }), { type: 'null' }] },
    song_history: many(exactly({ ...played, song: ref('EventSong') })),
    is_online: truth,
    cache: text
  }),
  QueueItem: exactly({
    ...cued,
    links: exactly({ self: { ...text, format: 'uri', description: 'Its last segment is the id.' } }),
    sent_to_autodj: truth,
    is_played: truth,
    autodj_custom_uri: text,
    log: { type: 'array', items: {}, description: 'Why the AutoDJ chose it.' }
  }),
  PreviewItem: exactly({
    played_at: { ...whole, description: 'Unix seconds of its start.' },
    ends_at: whole,
    duration: { ...whole, description: 'Seconds; 0: not known.' },
    playlist: text,
    is_request: truth,
    is_jingle: truth,
    song: { oneOf: [ref('Song'), { type: 'null' }], description: 'Null: silence.' },
    log: { type: 'array', items: {}, description: 'Why; empty for what stands in the queue already.' }
  }),
  ScheduleEntry: exactly({
    id: { ...whole, description: 'The id of the schedule item.' },
    type: { ...text, enum: ['playlist'] },
    name: text,
    title: text,
    description: text,
    start_timestamp: whole,
    start: { ...text, format: 'date-time', description: 'On the clock of the station.' },
    end_timestamp: whole,
    end: { ...text, format: 'date-time' },
    is_now: truth
  }),
  OnDemandSong: exactly({
    track_id: { ...text, description: 'The id of the song.' },
    media: ref('Song'),
    download_url: {
      ...text,
      description: 'Where the song is.',
      examples: ['/api/station/1/ondemand/download/12']
    }
  }),
  RequestableSong: exactly({
    request_id: { ...text, description: 'The id of the song.', examples: ['12'] },
    request_url: {
      ...text,
      description: 'The path that a request is posted to.',
      examples: ['/api/station/1/request/12']
    },
    song: ref('Song')
  }),
  SongRequest: exactly({
    id: whole,
    timestamp: { ...whole, description: 'Unix seconds of the request.' },
    due_at: { ...whole, description: 'Unix seconds: not played before.' },
    skip_delay: truth,
    state: {
      ...text,
      enum: ['pending', 'queued', 'aired', 'cancelled', 'expired'],
      description: 'What became of it. One that finds no place within three hours expires.'
    },
    played_at: { ...whole, description: 'Unix seconds; 0: not played.' },
    media_id: whole,
    song: ref('Song'),
    ip: {
      ...text,
      description:
        'The address of the listener, of IPv6 the network; "" for keys that may not manage broadcasting.'
    }
  })
}
