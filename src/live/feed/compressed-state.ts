import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib'

import type { ShownPlay, ShownSong, StationState } from '../../model/station/state.ts'

const song: ShownSong = {
  id: '0123456789abcdef0123456789abcdef',
  artist: 'The ',
  title: ' of the ',
  album: ' (Remastered)',
  genre: 'Rock',
  isrc: '',
  lyrics: '',
  artId: '0123456789abcdef01234567-1780000000',
  customFields: {}
}

const play: ShownPlay = {
  shId: 100_000,
  startedAtMs: 1_780_000_000_000,
  durationMs: 215_000,
  playlist: 'default',
  streamer: '',
  isRequest: false,
  song
}

/** The dictionary: field names and values that most states have in common. */
const typicalState: StationState = {
  stationId: 1,
  epoch: '0123456789abcdef',
  offset: 1_780_000_000_000,
  revisions: { station: 1, playback: 1, queue: 1, listeners: 1, live: 1 },
  profile: {
    name: 'Radio ',
    shortName: 'radio_',
    description: '',
    url: 'https://www.',
    timezone: 'Europe/',
    frontend: 'icecast',
    backend: 'liquidsoap',
    isPublic: true,
    hlsEnabled: false,
    hlsIsDefault: false,
    offlineText: 'Station Offline',
    mounts: [
      {
        id: 1,
        path: '/radio.mp3',
        displayName: '',
        bitrate: 128,
        format: 'mp3',
        hasAutodj: true,
        customUrl: '',
        isDefault: true
      }
    ],
    remotes: [],
    customFields: []
  },
  listeners: { total: 0, unique: 0, mounts: { 1: { total: 0, unique: 0 } }, remotes: {}, hls: 0 },
  current: { shId: 100_000, dueAtMs: 1_780_000_000_000, isVisible: true },
  shown: play,
  history: [play],
  next: {
    cuedAtMs: 1_780_000_000_000,
    playsAtMs: 1_780_000_000_000,
    durationMs: 215_000,
    playlist: 'default',
    isRequest: false,
    song
  },
  live: null
}

/** A window of 8 KB has room for the dictionary and most states; larger ones take longer to allocate. */
const options: ZlibOptions = {
  dictionary: Buffer.from(JSON.stringify(typicalState)),
  level: 3,
  windowBits: 13,
  memLevel: 4
}

/**
 * Compresses a state to about a tenth of its JSON text, in about 20 microseconds. The bytes are in a string,
 * whose overhead is a tenth of that of a buffer.
 */
export const compressState = (state: StationState): string =>
  deflateRawSync(JSON.stringify(state), options).toString('latin1')

/** Reverses `compressState`. */
export const decompressState = (compressed: string): StationState =>
  JSON.parse(inflateRawSync(Buffer.from(compressed, 'latin1'), options).toString())
