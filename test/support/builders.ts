import { openStationRenderer } from '../../src/model/station/renderer.ts'
import type {
  FlushedCounts,
  CurrentPlay,
  ShownMount,
  ShownPlay,
  ShownSong,
  StationProfile,
  StationState
} from '../../src/model/station/state.ts'

/** Renders stations of `https://radio.example.com`. */
export const documented = openStationRenderer('documented', 'https://radio.example.com')

/** A song; by default by Nils Okada. */
export function aSong(parts: Partial<ShownSong> = {}): ShownSong {
  return {
    id: '68302e965e560295b645291c26a2cb52',
    artist: 'Nils Okada',
    title: 'Paper Lanterns',
    album: 'Low Water',
    genre: 'Ambient',
    isrc: '',
    lyrics: '',
    artId: '',
    customFields: {},
    ...parts
  }
}

/** A visible play of 215 seconds that started now. */
export function aPlay(parts: Partial<ShownPlay> = {}): ShownPlay {
  return {
    shId: 4312,
    startedAtMs: Date.now(),
    durationMs: 215_000,
    playlist: 'Daytime',
    streamer: '',
    isRequest: false,
    song: aSong(),
    ...parts
  }
}

/** A public MP3 mount; the default one if its id is 1. */
export function aMount(id: number, parts: Partial<ShownMount> = {}): ShownMount {
  return {
    id,
    path: `/${id}.mp3`,
    displayName: `Stream ${id}`,
    bitrate: 128,
    format: 'mp3',
    hasAutodj: true,
    customUrl: '',
    isDefault: id === 1,
    ...parts
  }
}

/**
 * A public station that plays one song: `station:1`, `station:harbour_fm`, offset 1 of epoch `e1`. It is silent
 * if `shown` is null.
 */
export function aStation(
  parts: Partial<Omit<StationState, 'profile'>> & { profile?: Partial<StationProfile> } = {}
): StationState {
  const { profile, ...rest } = parts
  const shown = parts.shown === undefined ? aPlay() : parts.shown
  return {
    stationId: 1,
    epoch: 'e1',
    offset: 1,
    listeners: { total: 0, unique: 0, mounts: {}, remotes: {}, hls: 0 },
    history: [],
    next: null,
    live: null,
    revisions: { station: 1, playback: 1, queue: 0, listeners: 0, live: 0 },
    shown,
    current: shown === null ? null : currentOf(shown),
    ...rest,
    profile: {
      url: '',
      timezone: 'UTC',
      hlsEnabled: false,
      hlsIsDefault: false,
      mounts: [],
      remotes: [],
      customFields: [],
      name: 'Harbour FM',
      shortName: 'harbour_fm',
      description: 'Slow radio by the sea',
      frontend: 'icecast',
      backend: 'clock',
      isPublic: true,
      offlineText: 'Station Offline',
      ...profile
    }
  }
}

/** The station with the next song, at the next offset. */
export function afterSong(state: StationState, song: Partial<ShownSong> = {}): StationState {
  const shown = aPlay({ shId: (state.shown?.shId ?? 0) + 1, song: aSong(song) })
  const revisions = { ...state.revisions, playback: Math.max(...Object.values(state.revisions)) + 1 }
  return { ...state, offset: state.offset + 1, revisions, shown, current: currentOf(shown) }
}

function currentOf(play: ShownPlay): CurrentPlay {
  return { shId: play.shId, dueAtMs: play.startedAtMs + play.durationMs, isVisible: true }
}

/** The counts of Postgres that a state shows, without hidden sources. */
export function countsBasis({ listeners, current, profile }: StationState): FlushedCounts {
  const { total, unique, mounts, remotes } = listeners
  const none = { total: 0, unique: 0 }
  const play = current && { id: current.shId, start: total, gained: 0, lost: 0, peak: total, unique }
  const sources = [
    ...profile.mounts.map(({ id, path }) => [`mount:${id}`, { ...none, ...mounts[id], path, isShown: true }]),
    ...profile.remotes.map(({ id, url }) => [
      `remote:${id}`,
      { ...none, ...remotes[id], path: url, isShown: true }
    ])
  ]
  return { total, unique, hasHooks: false, play, sources: Object.fromEntries(sources) }
}
