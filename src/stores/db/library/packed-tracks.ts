import {
  columnValueAt,
  indexTrackColumns,
  stationDefinedOverlap,
  type TrackColumns
} from '../../../model/autodj/track-columns.ts'
import type { Sql, Tx } from '../sql.ts'
import { onAirMsFragment, overlapMsFragment } from './cue-columns.ts'

/** Columns of a playlist's tracks, each a Postgres array of bigint in binary form. */
export type PackedTracks = { readonly uris: string[] } & Readonly<Record<PackedColumn | 'artists', Buffer>> &
  // Of the tracks whose songs have a start of the next one; null without any.
  Readonly<Record<'overlapping' | 'overlaps', Buffer | null>>

type PackedColumn =
  | 'ids'
  | 'positions'
  | 'media'
  | 'songs'
  | 'titles'
  | 'durations'
  | 'passes'
  | 'aired'
  | 'artistCounts'

/** The columns of the tracks `t` that `packedTracksFragment` needs. */
export const trackColumnsFragment = (sql: Sql | Tx) =>
  sql`t.id, t.playlist_id, t.media_id, t.position, t.last_pass, t.last_aired_ms`

/** The columns of the media `m` that `packedTracksFragment` needs. */
export const mediaColumnsFragment = (sql: Sql | Tx) => sql`
  m.id, m.song_key, m.title_key, m.artist_keys, m.duration_ms, m.cue_in_ms, m.cue_out_ms, m.start_next_ms, m.path`

const lastPassOf = (sql: Sql | Tx) => sql`least(t.last_pass, 2147483647)`
const lastAiredOf = (sql: Sql | Tx) => sql`coalesce(t.last_aired_ms, 0)`

/** The marks that a play leaves at the track `t`. */
export const markColumnsFragment = (sql: Sql | Tx) =>
  sql`${lastPassOf(sql)} as "lastPass", ${lastAiredOf(sql)} as "lastAiredMs"`

/** Aggregates the tracks `t` (with `is_remote`) and their media `m` into columns, much faster than rows. */
export const packedTracksFragment = (sql: Sql | Tx) => sql`
  ${column(sql, sql`t.id`)} as ids, ${column(sql, sql`t.position::bigint`)} as positions, ${column(sql, sql`m.id`)} as media, ${column(sql, sql`m.song_key`)} as songs,
  ${column(sql, sql`coalesce(m.title_key, 0)`)} as titles, ${column(sql, sql`${onAirMsFragment(sql)}::bigint`)} as durations,
  ${column(sql, lastPassOf(sql))} as passes, ${column(sql, lastAiredOf(sql))} as aired,
  ${column(sql, sql`coalesce(cardinality(m.artist_keys), 0)::bigint`)} as "artistCounts",
  coalesce(string_agg(array_send(m.artist_keys), ''::bytea ${inOrder(sql)})
    filter (where cardinality(m.artist_keys) > 0), '') as artists,
  ${column(sql, sql`t.id`, ofOverlapping(sql))} as overlapping,
  ${column(sql, sql`coalesce(${overlapMsFragment(sql)}, ${stationDefinedOverlap})::bigint`, ofOverlapping(sql))} as overlaps,
  coalesce(array_agg(m.path ${inOrder(sql)}) filter (where t.is_remote), '{}') as uris`

type Fragment = ReturnType<typeof inOrder>

const inOrder = (sql: Sql | Tx) => sql`order by t.position, t.id`
const column = (sql: Sql | Tx, value: Fragment, only = sql``) =>
  sql`array_send(array_agg(${value} ${inOrder(sql)}) ${only})`
const ofOverlapping = (sql: Sql | Tx) => sql`filter (where m.start_next_ms is not null)`

/** So many tracks of a playlist are in one row, which is parsed without a pause. */
export const tracksPerPart = 5_000

/**
 * Parses the results of `packedTracksFragment` for the parts of a playlist, in order. `pause` runs between parts, so that
 * other work continues.
 */
export async function unpackTracks(
  packed: readonly PackedTracks[],
  pause: () => Promise<void>
): Promise<TrackColumns> {
  const parts: Part[] = []
  for (const each of packed) {
    await pause()
    parts.push(unpackPart(each))
  }
  await pause()
  const join = (name: Exclude<keyof Part, 'uris'>) => joinColumns(parts.map(part => part[name]))
  return indexTrackColumns({
    ids: join('ids'),
    positions: new Int32Array(join('positions')),
    media: join('media'),
    songs: join('songs'),
    titles: join('titles'),
    artistsEnd: addUp(join('artistCounts')),
    artists: join('artists'),
    durations: new Int32Array(join('durations')),
    lastPass: new Int32Array(join('passes')),
    lastAired: join('aired'),
    overlaps: new Int32Array(join('overlaps')),
    uris: parts.flatMap(({ uris }) => uris)
  })
}

/** The sums up to each value. Twenty times as fast as `Int32Array.from` with a function. */
function addUp(counts: Float64Array): Int32Array {
  const sums = new Int32Array(counts.length)
  let sum = 0
  for (let index = 0; index < counts.length; index++) {
    sum += columnValueAt(counts, index)
    sums[index] = sum
  }
  return sums
}

type Part = Readonly<Record<PackedColumn | 'artists' | 'overlaps', Float64Array>> & {
  readonly uris: readonly string[]
}

function unpackPart(packed: PackedTracks): Part {
  const ids = readArray(packed.ids)
  const artistCounts = readArray(packed.artistCounts)
  return {
    ids,
    positions: readArray(packed.positions),
    media: readArray(packed.media),
    songs: readArray(packed.songs),
    titles: readArray(packed.titles),
    artistCounts,
    artists: readArrays(packed.artists, artistCounts),
    durations: readArray(packed.durations),
    passes: readArray(packed.passes),
    aired: readArray(packed.aired),
    overlaps: readOverlaps(packed, ids),
    uris: packed.uris
  }
}

function joinColumns(columns: readonly Float64Array[]): Float64Array {
  const [first] = columns
  if (first && columns.length === 1) return first
  const joined = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const part of columns) {
    joined.set(part, end)
    end += part.length
  }
  return joined
}

/** The overlap of each track, or `stationDefinedOverlap`. */
function readOverlaps({ overlapping, overlaps }: PackedTracks, ids: Float64Array): Float64Array {
  if (!overlapping || !overlaps) return new Float64Array(ids.length).fill(stationDefinedOverlap)
  const [known, values] = [readArray(overlapping), readArray(overlaps)]
  let next = 0
  return ids.map(id => (id === known[next] ? columnValueAt(values, next++) : stationDefinedOverlap))
}

/** Dimensions, flags, element type, length, lower bound; then for each element its length and 8 bytes. */
const headBytes = 20
const elementBytes = 12

function readArray(bytes: Buffer): Float64Array {
  const numbers = new Float64Array((bytes.length - headBytes) / elementBytes)
  fill(numbers, 0, numbers.length, bytes, 0)
  return numbers
}

function readArrays(bytes: Buffer, counts: Float64Array): Float64Array {
  const numbers = new Float64Array(counts.reduce((sum, count) => sum + count, 0))
  let index = 0
  let offset = 0
  for (let track = 0; track < counts.length; track++) {
    const count = columnValueAt(counts, track)
    if (count === 0) continue
    fill(numbers, index, count, bytes, offset)
    index += count
    offset += headBytes + count * elementBytes
  }
  return numbers
}

/** Copies `count` 64-bit integers from an array at `offset`; the values are far below 2^53. */
function fill(numbers: Float64Array, index: number, count: number, bytes: Buffer, offset: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let each = 0; each < count; each++) {
    const start = offset + headBytes + each * elementBytes + 4
    numbers[index + each] = view.getInt32(start) * 4_294_967_296 + view.getUint32(start + 4)
  }
}
