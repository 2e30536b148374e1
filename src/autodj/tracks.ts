/** Hashes of a song's id, title (0: no title) and artists; see `src/songs/duplicate-keys.ts`. */
export interface SongKeys {
  readonly song: number
  readonly title: number
  readonly artists: readonly number[]
}

/** The tracks of a playlist as columns, in order. Only `lastPass` and `lastAired` are modified. */
export interface Tracks {
  readonly ids: Float64Array
  readonly media: Float64Array
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
  /** Indices, sorted by id. */
  readonly byId: Int32Array
  /** 1 if the same media occurs earlier in the list. */
  readonly duplicates: Uint8Array
  /** URLs of the entries of a remote list; empty for songs of the library. */
  readonly uris: readonly string[]
}

export interface TrackRow extends SongKeys {
  readonly id: number
  readonly media: number
  readonly durationMs: number
  readonly lastPass: number
  readonly lastAiredMs: number
  readonly uri?: string
}

export function buildTracks(rows: readonly TrackRow[]): Tracks {
  const count = rows.length
  const artists: number[] = []
  const artistsEnd = new Int32Array(count)
  rows.forEach((row, index) => {
    artists.push(...row.artists)
    artistsEnd[index] = artists.length
  })
  const ids = Float64Array.from(rows, row => row.id)
  const media = Float64Array.from(rows, row => row.media)
  return {
    ids,
    media,
    songs: Float64Array.from(rows, row => row.song),
    titles: Float64Array.from(rows, row => row.title),
    artistsEnd,
    artists: Float64Array.from(artists),
    durations: Int32Array.from(rows, row => row.durationMs),
    lastPass: Int32Array.from(rows, row => row.lastPass),
    lastAired: Float64Array.from(rows, row => row.lastAiredMs),
    byId: orderById(ids),
    duplicates: flagDuplicates(media),
    uris: rows.some(row => row.uri) ? rows.map(row => row.uri ?? '') : []
  }
}

export function orderById(ids: Float64Array): Int32Array {
  const indices = new Int32Array(ids.length)
  let isInOrder = true
  for (let index = 0; index < ids.length; index++) {
    indices[index] = index
    isInOrder &&= index === 0 || cellAt(ids, index) > cellAt(ids, index - 1)
  }
  return isInOrder ? indices : indices.toSorted((a, b) => cellAt(ids, a) - cellAt(ids, b))
}

/** Flags repeated values of a column, except the first of each. */
export function flagDuplicates(column: Float64Array): Uint8Array {
  const doubles = new Uint8Array(column.length)
  const known = new Set<number>()
  for (let index = 0; index < column.length; index++) {
    const value = cellAt(column, index)
    if (known.has(value)) doubles[index] = 1
    else known.add(value)
  }
  return doubles
}

/** The index of a track by id, by binary search; -1 if it is not in the list. */
export function trackIndex(tracks: Tracks, trackId: number): number {
  let low = 0
  let high = tracks.byId.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const index = cellAt(tracks.byId, middle)
    const id = cellAt(tracks.ids, index)
    if (id === trackId) return index
    if (id < trackId) low = middle + 1
    else high = middle - 1
  }
  return -1
}

export function songKeysAt(tracks: Tracks, index: number): SongKeys {
  const from = index === 0 ? 0 : cellAt(tracks.artistsEnd, index - 1)
  return {
    song: cellAt(tracks.songs, index),
    title: cellAt(tracks.titles, index),
    artists: [...tracks.artists.subarray(from, cellAt(tracks.artistsEnd, index))]
  }
}

/** Records a play of a track; ignores index -1. */
export function markAired(tracks: Tracks, index: number, pass: number, atMs: number): void {
  if (index < 0) return
  tracks.lastPass[index] = Math.max(cellAt(tracks.lastPass, index), pass)
  tracks.lastAired[index] = Math.max(cellAt(tracks.lastAired, index), atMs)
}

/** A copy whose plays can be marked without changing the original. */
export function forkTracks(tracks: Tracks): Tracks {
  return { ...tracks, lastPass: tracks.lastPass.slice(), lastAired: tracks.lastAired.slice() }
}

/** A value of a column; 0 if the index is out of range. */
export function cellAt(column: Float64Array | Int32Array | Uint8Array, index: number): number {
  return column[index] ?? 0
}
