import { Deserializer, Serializer } from 'node:v8'

import type { Playlist } from '../../model/autodj/library.ts'
import { columnValueAt } from '../../model/autodj/track-columns.ts'
import type { CachedPast, PastPlay } from './library-past.ts'

/** Playlists and past plays of a station, as the AutoDJ uses them. */
export interface StationLibrary {
  readonly version: number
  readonly playlists: readonly Playlist[]
  readonly past: CachedPast
}

type Packed = Omit<StationLibrary, 'past'> & {
  readonly older: StationLibrary['past']['older']
  readonly plays: Float64Array
}

/**
 * Copies a library to one buffer. The garbage collector visits every object of a library, some hundreds, but
 * not the content of a buffer.
 */
export function packLibrary({ past, ...library }: StationLibrary): Uint8Array {
  const serializer = new Serializer()
  serializer.writeHeader()
  const packed: Packed = { ...library, older: past.older, plays: packPlays(past.plays) }
  serializer.writeValue(packed)
  // The released buffer can be twice as large as its content.
  return new Uint8Array(serializer.releaseBuffer())
}

/** The library of a buffer from `packLibrary`. */
export function unpackLibrary(bytes: Uint8Array): StationLibrary {
  const deserializer = new Deserializer(bytes)
  deserializer.readHeader()
  const { older, plays, ...library }: Packed = deserializer.readValue()
  return { ...library, past: { older, plays: unpackPlays(plays) } }
}

/** Numbers per play, except its artists. */
const playNumbers = 14
const visible = 1
const interrupt = 2
const provisional = 4

/** Writes plays as numbers, because objects would be written with the names of their properties. */
function packPlays(plays: readonly PastPlay[]): Float64Array {
  const numbers = new Float64Array(
    plays.reduce((sum, { song }) => sum + playNumbers + song.artists.length, 0)
  )
  let end = 0
  const write = (value: number | null) => {
    numbers[end++] = value ?? Number.NaN
  }
  for (const play of plays) {
    write(
      (play.isVisible ? visible : 0) |
        (play.isInterrupt ? interrupt : 0) |
        (play.isProvisional ? provisional : 0)
    )
    write(play.stationId)
    write(play.id)
    write(play.playlistId)
    write(play.trackId)
    write(play.mediaId)
    write(play.pass)
    write(play.requestId)
    write(play.occurrenceMs)
    write(play.startsAtMs)
    write(play.durationMs)
    write(play.song.song)
    write(play.song.title)
    write(play.song.artists.length)
    for (const artist of play.song.artists) write(artist)
  }
  return numbers
}

/** Reads the numbers in the order in which `packPlays` writes them. */
function unpackPlays(numbers: Float64Array): PastPlay[] {
  const plays: PastPlay[] = []
  let next = 0
  const read = () => columnValueAt(numbers, next++)
  const readNullable = () => {
    const value = read()
    return Number.isNaN(value) ? null : value
  }
  const readArtists = () => {
    const artists: number[] = []
    for (let count = read(); count > 0; count--) artists.push(read())
    return artists
  }
  while (next < numbers.length) {
    const flags = read()
    plays.push({
      isVisible: (flags & visible) !== 0,
      isInterrupt: (flags & interrupt) !== 0,
      ...((flags & provisional) === 0 ? {} : { isProvisional: true }),
      stationId: read(),
      id: read(),
      playlistId: readNullable(),
      trackId: readNullable(),
      mediaId: readNullable(),
      pass: read(),
      requestId: readNullable(),
      occurrenceMs: readNullable(),
      startsAtMs: read(),
      durationMs: read(),
      song: { song: read(), title: read(), artists: readArtists() }
    })
  }
  return plays
}
