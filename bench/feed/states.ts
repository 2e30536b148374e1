import type { FlushedCounts, ShownPlay, ShownSong, StationState } from '../../src/model/station/state.ts'

/** A state of about 3.4 KB as JSON: a station on air with five former plays. */
export function exampleState(stationId: number): StationState {
  const nowMs = Date.now()
  return {
    stationId,
    epoch: 'benchmark',
    offset: 0,
    revisions: { station: nowMs, playback: nowMs, queue: nowMs, listeners: nowMs, live: 1 },
    profile: {
      name: `Station ${stationId}`,
      shortName: `station_${stationId}`,
      description: 'Slow radio by the sea',
      url: `https://station${stationId}.example.com/`,
      timezone: 'Europe/Lisbon',
      frontend: 'icecast',
      backend: 'clock',
      isPublic: true,
      hlsEnabled: false,
      hlsIsDefault: false,
      offlineText: 'Station Offline',
      mounts: [
        {
          id: stationId,
          path: '/radio.mp3',
          displayName: '',
          bitrate: 192,
          format: 'mp3',
          hasAutodj: true,
          customUrl: '',
          isDefault: true
        }
      ],
      remotes: [],
      customFields: []
    },
    listeners: { total: 7, unique: 5, mounts: { [stationId]: { total: 7, unique: 5 } }, remotes: {}, hls: 0 },
    current: { shId: stationId * 10, dueAtMs: nowMs + 3_600_000, isVisible: true },
    shown: examplePlay(stationId, 0, nowMs),
    history: [1, 2, 3, 4, 5].map(before => examplePlay(stationId, before, nowMs)),
    next: {
      cuedAtMs: nowMs,
      playsAtMs: nowMs + 3_600_000,
      durationMs: 215_000,
      playlist: 'General rotation',
      isRequest: false,
      song: exampleSong(stationId * 10 + 9)
    },
    live: null
  }
}

/** The counts of Postgres for a state. */
export function exampleCounts({
  stationId,
  listeners: { total, unique },
  current
}: StationState): FlushedCounts {
  const play = current && { id: current.shId, start: total, gained: 0, lost: 0, peak: total, unique }
  const sources = { [`mount:${stationId}`]: { total, unique, path: '/radio.mp3', isShown: true } }
  return { total, unique, hasHooks: false, sources, play }
}

function examplePlay(stationId: number, before: number, nowMs: number): ShownPlay {
  return {
    shId: stationId * 10 - before,
    startedAtMs: nowMs - before * 215_000,
    durationMs: 3_600_000,
    playlist: 'General rotation',
    streamer: '',
    isRequest: false,
    song: exampleSong(stationId * 10 + before)
  }
}

function exampleSong(number: number): ShownSong {
  return {
    id: number.toString(16).padStart(32, '0'),
    artist: `Artist number ${number}`,
    title: `The title of song ${number}`,
    album: `Album ${number}`,
    genre: 'Ambient',
    isrc: 'ZZABC2600001',
    lyrics: '',
    artId: `${number.toString(16).padStart(24, '0')}-1780000000`,
    customFields: {}
  }
}
