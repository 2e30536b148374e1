/** Hashes of a song's id, title (0: no title) and artists; see `src/model/songs/duplicate-keys.ts`. */
export interface SongKeys {
  readonly song: number
  readonly title: number
  readonly artists: readonly number[]
}

/** Ids of rows, in four bytes each while they fit. */
export type IdColumn = Float64Array | Uint32Array

/** The tracks of a playlist as columns, in order. Only `lastPass` and `lastAired` are modified. */
export interface TrackColumns {
  readonly ids: IdColumn
  /** The tracks are sorted by position and id. */
  readonly positions: Int32Array
  readonly media: IdColumn
  readonly songs: Float64Array
  readonly titles: Float64Array
  /** The artists of track `i` are `artists[artistsEnd[i - 1] or 0]` to `artists[artistsEnd[i] - 1]`. */
  readonly artistsEnd: Int32Array
  readonly artists: Float64Array
  /** Milliseconds; 0: unknown. */
  readonly durations: Int32Array
  /** The pass in which a track was last played. */
  readonly lastPass: Int32Array
  /** When it was last played from this playlist, Unix milliseconds; 0: never. */
  readonly lastAired: Float64Array
  /** Indices, sorted by id; null: the tracks are in this order. */
  readonly byId: Int32Array | null
  /** 1 if the same media occurs earlier in the list; null: no media occurs twice. */
  readonly duplicates: Uint8Array | null
  /** How long tracks overlap with the next one, in milliseconds, or `stationDefinedOverlap`; null: no track has such a time. */
  readonly overlaps: Int32Array | null
  /** URLs of the entries of a remote list; empty for songs of the library. */
  readonly uris: readonly string[]
}

/** A track that overlaps as long as the station defines. */
export const stationDefinedOverlap = -1

export interface TrackRow extends SongKeys {
  readonly id: number
  readonly media: number
  readonly durationMs: number
  readonly lastPass: number
  readonly lastAiredMs: number
  readonly overlapMs?: number
  readonly uri?: string
}

/** Builds columns from rows in playing order. */
export function buildTrackColumns(rows: readonly TrackRow[]): TrackColumns {
  let artists = 0
  return indexTrackColumns({
    ids: Float64Array.from(rows, row => row.id),
    positions: Int32Array.from(rows, (_, index) => index + 1),
    media: Float64Array.from(rows, row => row.media),
    songs: Float64Array.from(rows, row => row.song),
    titles: Float64Array.from(rows, row => row.title),
    artistsEnd: Int32Array.from(rows, row => (artists += row.artists.length)),
    artists: Float64Array.from(rows.flatMap(row => row.artists)),
    durations: Int32Array.from(rows, row => row.durationMs),
    lastPass: Int32Array.from(rows, row => row.lastPass),
    lastAired: Float64Array.from(rows, row => row.lastAiredMs),
    overlaps: Int32Array.from(rows, row => row.overlapMs ?? stationDefinedOverlap),
    uris: rows.some(row => row.uri) ? rows.map(row => row.uri ?? '') : []
  })
}

/**
 * Adds what is derived from the columns, and copies them to one buffer: with thousands of playlists, small
 * buffers would take twice the memory.
 */
export function indexTrackColumns({
  overlaps,
  uris,
  ...columns
}: Omit<TrackColumns, 'byId' | 'duplicates'>): TrackColumns {
  const { ids, media, artists } = columns
  const areSmall = [ids, media].every(column => column.every(id => id < 2 ** 32))
  const Ids: ColumnType<IdColumn> = areSmall ? Uint32Array : Float64Array
  const bytesPerTrack = 3 * 8 + 2 * (areSmall ? 4 : 8) + 4 * 4
  const buffer = new ArrayBuffer(bytesPerTrack * ids.length + artists.byteLength)
  let end = 0
  function copy<Column extends IdColumn | Int32Array>(Type: ColumnType<Column>, column: ArrayLike<number>) {
    const copied = new Type(buffer, end, column.length)
    copied.set(column)
    end += copied.byteLength
    return copied
  }
  return {
    // Columns of eight bytes come first, because of their alignment.
    songs: copy(Float64Array, columns.songs),
    titles: copy(Float64Array, columns.titles),
    lastAired: copy(Float64Array, columns.lastAired),
    artists: copy(Float64Array, artists),
    ids: copy(Ids, ids),
    media: copy(Ids, media),
    positions: copy(Int32Array, columns.positions),
    artistsEnd: copy(Int32Array, columns.artistsEnd),
    durations: copy(Int32Array, columns.durations),
    lastPass: copy(Int32Array, columns.lastPass),
    byId: orderById(ids),
    duplicates: flagDuplicates(media),
    overlaps: overlaps?.some(overlapMs => overlapMs !== stationDefinedOverlap) ? overlaps : null,
    uris
  }
}

type ColumnType<Column> = new (buffer: ArrayBuffer, offset: number, length: number) => Column

function orderById(ids: IdColumn): Int32Array | null {
  if (ids.every((id, index) => index === 0 || id > columnValueAt(ids, index - 1))) return null
  return Int32Array.from(ids.keys()).toSorted((a, b) => columnValueAt(ids, a) - columnValueAt(ids, b))
}

/** Flags repeated values of a column, except the first of each. */
function flagDuplicates(column: IdColumn): Uint8Array | null {
  // Sorting numbers takes a tenth of the time of a set of them.
  const sorted = column.toSorted()
  if (sorted.every((value, index) => index === 0 || value !== sorted[index - 1])) return null
  const known = new Set<number>()
  const flags = Uint8Array.from(column, value => {
    const isRepeated = known.has(value)
    known.add(value)
    return isRepeated ? 1 : 0
  })
  return flags
}

/** The index of a track by id, by binary search; -1 if it is not in the list. */
export function findTrackIndex(tracks: TrackColumns, trackId: number): number {
  let low = 0
  let high = tracks.ids.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const index = tracks.byId ? columnValueAt(tracks.byId, middle) : middle
    const id = columnValueAt(tracks.ids, index)
    if (id === trackId) return index
    if (id < trackId) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** How long a track overlaps with the next one; null: as the station defines it. */
export function overlapAt({ overlaps }: TrackColumns, index: number): number | null {
  const overlapMs = overlaps?.[index] ?? stationDefinedOverlap
  return overlapMs === stationDefinedOverlap ? null : overlapMs
}

export function songKeysAt(tracks: TrackColumns, index: number): SongKeys {
  const from = index === 0 ? 0 : columnValueAt(tracks.artistsEnd, index - 1)
  return {
    song: columnValueAt(tracks.songs, index),
    title: columnValueAt(tracks.titles, index),
    artists: [...tracks.artists.subarray(from, columnValueAt(tracks.artistsEnd, index))]
  }
}

/** Records a play of a track; ignores index -1. */
export function markTrackAired(tracks: TrackColumns, index: number, pass: number, atMs: number): void {
  if (index < 0) return
  tracks.lastPass[index] = Math.max(columnValueAt(tracks.lastPass, index), pass)
  tracks.lastAired[index] = Math.max(columnValueAt(tracks.lastAired, index), atMs)
}

/** A copy whose plays can be marked without changing the original. */
export function forkTrackColumns(tracks: TrackColumns): TrackColumns {
  return { ...tracks, lastPass: tracks.lastPass.slice(), lastAired: tracks.lastAired.slice() }
}

/** A value of a column; 0 if the index is out of range. */
export function columnValueAt(column: IdColumn | Int32Array | Uint8Array, index: number): number {
  return column[index] ?? 0
}

/** Removes the tracks for which `isReplaced` returns true, and merges `fresh` ones, in playing order. */
export function replaceTrackColumns(
  tracks: TrackColumns,
  isReplaced: (index: number) => boolean,
  fresh: TrackColumns
): TrackColumns {
  const sources = mergeInOrder(tracks, isReplaced, fresh)
  const column = (
    name: 'ids' | 'positions' | 'media' | 'songs' | 'titles' | 'durations' | 'lastPass' | 'lastAired'
  ) => Float64Array.from(sources, ({ from, index }) => columnValueAt(from[name], index))
  const artists = sources.map(({ from, index }) => songKeysAt(from, index).artists)
  let artistsEnd = 0
  const hasUris = tracks.uris.length > 0 || fresh.uris.length > 0
  return indexTrackColumns({
    ids: column('ids'),
    positions: Int32Array.from(column('positions')),
    media: column('media'),
    songs: column('songs'),
    titles: column('titles'),
    artistsEnd: Int32Array.from(artists, each => (artistsEnd += each.length)),
    artists: Float64Array.from(artists.flat()),
    durations: Int32Array.from(column('durations')),
    lastPass: Int32Array.from(column('lastPass')),
    lastAired: column('lastAired'),
    overlaps: Int32Array.from(sources, ({ from, index }) => overlapAt(from, index) ?? stationDefinedOverlap),
    uris: hasUris ? sources.map(({ from, index }) => from.uris[index] ?? '') : []
  })
}

interface TrackSource {
  readonly from: TrackColumns
  readonly index: number
}

function mergeInOrder(
  tracks: TrackColumns,
  isReplaced: (index: number) => boolean,
  fresh: TrackColumns
): readonly TrackSource[] {
  const merged: TrackSource[] = []
  let next = 0
  const isBefore = (index: number, other: number) => {
    const byPosition = columnValueAt(fresh.positions, index) - columnValueAt(tracks.positions, other)
    return (
      byPosition < 0 ||
      (byPosition === 0 && columnValueAt(fresh.ids, index) < columnValueAt(tracks.ids, other))
    )
  }
  for (const index of tracks.ids.keys()) {
    if (isReplaced(index)) continue
    for (; next < fresh.ids.length && isBefore(next, index); next++) merged.push({ from: fresh, index: next })
    merged.push({ from: tracks, index })
  }
  for (; next < fresh.ids.length; next++) merged.push({ from: fresh, index: next })
  return merged
}
