import { doublesIn, indexById, type Tracks } from '../autodj/tracks.ts'
import type { Sql, Tx } from './sql.ts'

/**
 * The tracks of a playlist as bytes, for `string_agg`: a row a track would take Postgres and us ten times as long. `t` is
 * the playlist's track, `m` its media.
 */
export const packedTrack = (sql: Sql | Tx) => sql`
  int8send(t.id) || int8send(m.id) || int8send(${songKey(sql, 'm')}) || int8send(coalesce(m.title_key, 0))
    || int4send(m.duration_ms) || int4send(least(t.last_pass, 2147483647)::int4)
    || int8send(coalesce(t.last_aired_ms, 0)) || array_send(coalesce(m.artist_keys, '{}'))`

/** The number that stands for a song's id, as in `src/songs/clash-keys.ts`. */
export const songKey = (sql: Sql | Tx, table: 'm' | 'h') =>
  sql`('x' || left(${sql(table)}.song_id, 13))::bit(52)::bigint`

/** Before the artists: six columns of 8 and 4 bytes, then the number of dimensions, flags and type of an array. */
const fixedBytes = 48
const arrayHeadBytes = 12
const dimensionBytes = 8
const elementBytes = 12

/** Reads what `packedTrack` wrote. */
export function unpackTracks(bytes: Buffer, uris: readonly string[]): Tracks {
  const { count, artists: artistCount } = measure(bytes)
  const tracks = {
    ids: new Float64Array(count),
    media: new Float64Array(count),
    songs: new Float64Array(count),
    titles: new Float64Array(count),
    artistsEnd: new Int32Array(count),
    artists: new Float64Array(artistCount),
    durations: new Int32Array(count),
    lastPass: new Int32Array(count),
    lastAired: new Float64Array(count)
  }
  let offset = 0
  let artist = 0
  for (let index = 0; index < count; index++) {
    tracks.ids[index] = readNumber(bytes, offset)
    tracks.media[index] = readNumber(bytes, offset + 8)
    tracks.songs[index] = readNumber(bytes, offset + 16)
    tracks.titles[index] = readNumber(bytes, offset + 24)
    tracks.durations[index] = bytes.readInt32BE(offset + 32)
    tracks.lastPass[index] = bytes.readInt32BE(offset + 36)
    tracks.lastAired[index] = readNumber(bytes, offset + 40)
    const elements = elementsAt(bytes, offset)
    const from = offset + fixedBytes + arrayHeadBytes + dimensionBytes + 4
    for (let each = 0; each < elements; each++)
      tracks.artists[artist++] = readNumber(bytes, from + each * elementBytes)
    tracks.artistsEnd[index] = artist
    offset += trackBytes(elements)
  }
  return { ...tracks, byId: indexById(tracks.ids), doubles: doublesIn(tracks.media), uris }
}

function measure(bytes: Buffer): { count: number; artists: number } {
  let count = 0
  let artists = 0
  for (let offset = 0; offset < bytes.length; count++) {
    const elements = elementsAt(bytes, offset)
    artists += elements
    offset += trackBytes(elements)
  }
  return { count, artists }
}

function elementsAt(bytes: Buffer, offset: number): number {
  const dimensions = bytes.readInt32BE(offset + fixedBytes)
  return dimensions === 0 ? 0 : bytes.readInt32BE(offset + fixedBytes + arrayHeadBytes)
}

const trackBytes = (elements: number) =>
  fixedBytes + arrayHeadBytes + (elements === 0 ? 0 : dimensionBytes + elements * elementBytes)

/** A whole number of 64 bits; those in use are far below 2^53. */
function readNumber(bytes: Buffer, offset: number): number {
  return bytes.readInt32BE(offset) * 4_294_967_296 + bytes.readUInt32BE(offset + 4)
}
