import type { Json, OpenApiDocument, Schema } from './document.ts'

/** Values of keys whose schema allows more than AzuraCast accepts, by the name of the schema. */
const samples: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  StationBackendConfiguration: {
    charset: 'UTF-8',
    record_streams_format: 'mp3',
    record_streams_bitrate: 128,
    autodj_queue_length: 4,
    dj_mount_point: '/',
    dj_buffer: 5,
    audio_processing_method: 'none',
    master_me_loudness_target: -16,
    crossfade_type: 'normal',
    crossfade: 2.5,
    crossfade_smart_high: -15,
    crossfade_smart_medium: -32,
    crossfade_smart_margin: 8,
    duplicate_prevention_time_range: 90,
    performance_mode: 'disabled',
    hls_segment_length: 4,
    hls_segments_in_playlist: 5,
    hls_segments_overhead: 2,
    live_broadcast_text: 'On the air'
  },
  StationFrontendConfiguration: {
    source_pw: 'source-secret',
    admin_pw: 'admin-secret',
    relay_pw: 'relay-secret',
    streamer_pw: 'streamer-secret',
    port: 8_500,
    max_listeners: 250
  },
  User: { email: 'coverage@example.com', auth_password: 'a long enough password' },
  StationStreamer: { streamer_password: 'a long enough password' },
  SftpUser: { username: 'coverage', password: 'a long enough password' },
  CustomField: { name: 'Coverage field', short_name: 'coverage_field' },
  PodcastBrandingConfiguration: { enable_op3_prefix: false },
  Relay: { name: 'Relay' }
}

/** Keys that the server sets. */
const readOnlyKeys = ['id', 'links']

/**
 * Returns a value that a schema describes: from its example, or from its type if it has none. Bodies have no
 * keys that the server sets.
 */
export function sampleOf(
  schema: Schema,
  { schemas }: Pick<OpenApiDocument, 'schemas'>,
  part: 'body' | 'answer' = 'body'
): Json {
  return sample(schema, '')

  function sample(each: Schema, name: string): Json {
    if (typeof each['$ref'] === 'string') {
      const referenced = each['$ref'].split('/').at(-1) ?? ''
      const target = schemas[referenced]
      return target === undefined ? undefined : sample(target, referenced)
    }
    if (each['allOf'] !== undefined)
      return Object.assign({}, ...each['allOf'].map((member: Schema) => sample(member, name)))
    if (each['example'] !== undefined && each['type'] !== 'object') return coerce(each)
    if (part === 'answer' && each['nullable'] === true) return null
    const [choice] = each['oneOf'] ?? each['anyOf'] ?? []
    if (choice !== undefined) return sample(choice, name)
    if (each['enum'] !== undefined) return each['enum'][0]
    if (each['properties'] !== undefined) return sampleObject(each['properties'], name)
    if (part === 'answer' && each['type'] === 'array') return [sample(each['items'] ?? {}, name)]
    if (part === 'answer' && each['additionalProperties'] !== undefined) return { self: '/api/sample/1' }
    return each['nullable'] === true ? null : defaultOf(each['type'])
  }

  function sampleObject(properties: Readonly<Record<string, Schema>>, name: string): Json {
    const entries = Object.entries(properties)
      .filter(([key]) => part === 'answer' || !readOnlyKeys.includes(key))
      .map(([key, value]) => [key, samples[name]?.[key] ?? sample(value, '')])
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }
}

/** The example of a schema; `"true"` for a boolean, `"a,b"` for an array and `"1"` for a number are parsed. */
function coerce({ type, items, example }: Schema): Json {
  if (type === 'array') return coerceArray(items ?? {}, example)
  if (typeof example !== 'string') return example
  if (type === 'boolean') return example === 'true'
  if (type === 'integer' || type === 'number') return Number(example)
  return example
}

function coerceArray(items: Schema, example: Json): Json {
  if (typeof example === 'string') return coerceArray(items, example.split(','))
  const list = Array.isArray(example) ? example : []
  return items['type'] === 'integer' ? list.map(Number) : list
}

function defaultOf(type: Json): Json {
  if (type === 'string') return 'text'
  if (type === 'integer' || type === 'number') return 0
  if (type === 'boolean') return false
  if (type === 'array') return []
  return type === 'object' || Array.isArray(type) ? {} : undefined
}
