import { describe, expect, test } from 'vitest'

import {
  renderElapsed,
  type NowPlayingVariant,
  renderNowPlaying,
  shownArtUrl
} from '../../../../src/model/station/now-playing.ts'
import type { StationState } from '../../../../src/model/station/state.ts'
import { aPlay, aSong, aStation } from '../../../support/builders.ts'

const base = 'https://radio.example.com'
const nowSeconds = 1_783_468_815

/** The document as a client reads it. */
function read(state: StationState, rendering: NowPlayingVariant, atSeconds = nowSeconds) {
  const document = renderNowPlaying(state, rendering, base)
  return JSON.parse(document.head + renderElapsed(document, atSeconds) + document.tail)
}

const harbour = aStation({
  profile: {
    url: 'https://harbour.example.com/',
    timezone: 'Europe/Lisbon',
    backend: 'liquidsoap',
    hlsEnabled: true,
    mounts: [
      {
        id: 1,
        path: '/main.mp3',
        displayName: '',
        bitrate: 192,
        format: 'mp3',
        hasAutodj: true,
        customUrl: '',
        isDefault: true
      }
    ],
    remotes: [
      { id: 4, name: 'Relay North', url: 'https://north.example.net/harbour', bitrate: 128, format: 'aac' }
    ],
    customFields: [
      { id: 1, shortName: 'mood' },
      { id: 2, shortName: 'label' }
    ]
  },
  listeners: {
    total: 6,
    unique: 5,
    mounts: { 1: { total: 3, unique: 2 } },
    remotes: { 4: { total: 1, unique: 1 } },
    hls: 2
  },
  shown: aPlay({
    startedAtMs: 1_783_468_790_400,
    durationMs: 215_900,
    song: aSong({ isrc: 'ZZABC2600001', artId: '5f1c0a9e2b7d-1780000000', customFields: { 1: 'calm' } })
  }),
  next: {
    cuedAtMs: 1_783_468_965_000,
    playsAtMs: 1_783_469_005_999,
    durationMs: 182_530,
    playlist: 'Daytime',
    isRequest: false,
    song: aSong({
      id: 'af26c96d69d05187ce40589cfaf81937',
      artist: 'The Low Signals',
      title: 'Night Ferry',
      album: '',
      genre: ''
    })
  },
  history: [
    aPlay({
      shId: 4311,
      startedAtMs: 1_783_468_571_000,
      durationMs: 219_000,
      isRequest: true,
      song: aSong({ artist: 'Mara Quist', title: 'Tidewater', album: '', genre: '' })
    })
  ]
})

test('the REST rendering matches the API exactly', () => {
  expect(read(harbour, 'rest')).toEqual({
    station: {
      id: 1,
      name: 'Harbour FM',
      shortcode: 'harbour_fm',
      description: 'Slow radio by the sea',
      frontend: 'icecast',
      backend: 'liquidsoap',
      timezone: 'Europe/Lisbon',
      listen_url: `${base}/listen/harbour_fm/main.mp3`,
      url: 'https://harbour.example.com/',
      public_player_url: `${base}/public/harbour_fm`,
      playlist_pls_url: `${base}/public/harbour_fm/playlist.pls`,
      playlist_m3u_url: `${base}/public/harbour_fm/playlist.m3u`,
      is_public: true,
      mounts: [
        {
          id: 1,
          name: '/main.mp3 (192kbps MP3)',
          url: `${base}/listen/harbour_fm/main.mp3`,
          bitrate: 192,
          format: 'mp3',
          listeners: { total: 3, unique: 2, current: 3 },
          path: '/main.mp3',
          is_default: true
        }
      ],
      remotes: [
        {
          id: 4,
          name: 'Relay North',
          url: 'https://north.example.net/harbour',
          bitrate: 128,
          format: 'aac',
          listeners: { total: 1, unique: 1, current: 1 }
        }
      ],
      hls_enabled: true,
      hls_is_default: false,
      hls_url: `${base}/hls/harbour_fm/live.m3u8`,
      hls_listeners: 2
    },
    listeners: { total: 6, unique: 5, current: 6 },
    live: { is_live: false, streamer_name: '', broadcast_start: '', art: '' },
    now_playing: {
      sh_id: 4312,
      played_at: 1_783_468_790,
      duration: 215,
      playlist: 'Daytime',
      streamer: '',
      is_request: false,
      song: {
        id: '68302e965e560295b645291c26a2cb52',
        art: `${base}/api/station/harbour_fm/art/5f1c0a9e2b7d-1780000000.jpg`,
        custom_fields: ['calm', ''],
        text: 'Nils Okada - Paper Lanterns',
        artist: 'Nils Okada',
        title: 'Paper Lanterns',
        album: 'Low Water',
        genre: 'Ambient',
        isrc: 'ZZABC2600001',
        lyrics: ''
      },
      elapsed: 25,
      remaining: 190
    },
    playing_next: {
      cued_at: 1_783_468_965,
      played_at: 1_783_469_005,
      duration: 182,
      playlist: 'Daytime',
      is_request: false,
      song: {
        id: 'af26c96d69d05187ce40589cfaf81937',
        art: `${base}/static/img/generic_song.jpg`,
        custom_fields: ['', ''],
        text: 'The Low Signals - Night Ferry',
        artist: 'The Low Signals',
        title: 'Night Ferry',
        album: '',
        genre: '',
        isrc: '',
        lyrics: ''
      }
    },
    song_history: [
      {
        sh_id: 4311,
        played_at: 1_783_468_571,
        duration: 219,
        playlist: 'Daytime',
        streamer: '',
        is_request: true,
        song: {
          id: '68302e965e560295b645291c26a2cb52',
          art: `${base}/static/img/generic_song.jpg`,
          custom_fields: ['', ''],
          text: 'Mara Quist - Tidewater',
          artist: 'Mara Quist',
          title: 'Tidewater',
          album: '',
          genre: '',
          isrc: '',
          lyrics: ''
        }
      }
    ],
    is_online: true,
    cache: 'hit'
  })
})

const live = aStation({
  live: {
    streamerName: 'DJ Wren',
    startedAtMs: 1_783_465_200_000,
    art: '/api/station/harbour_fm/streamer/3/art-1.jpg'
  },
  shown: aPlay({ durationMs: 0, streamer: 'DJ Wren', startedAtMs: 1_783_468_692_000 })
})

describe('the event rendering', () => {
  test('differs only in custom fields and cache', () => {
    const fields = (values: object) => expect.objectContaining({ custom_fields: values })
    const rest = read(harbour, 'rest')
    expect(read(harbour, 'event')).toEqual({
      ...rest,
      live: { ...rest.live, broadcast_start: null, art: null },
      now_playing: { ...rest.now_playing, song: fields({ mood: 'calm', label: null }) },
      playing_next: { ...rest.playing_next, song: fields({ mood: null, label: null }) },
      song_history: [{ ...rest.song_history[0], song: fields({ mood: null, label: null }) }],
      cache: 'event'
    })
  })

  test('has a number for the start of a broadcast; REST has text', () => {
    expect(read(live, 'rest').live).toEqual({
      is_live: true,
      streamer_name: 'DJ Wren',
      broadcast_start: '1783465200',
      art: `${base}/api/station/harbour_fm/streamer/3/art-1.jpg`
    })
    expect(read(live, 'event').live.broadcast_start).toBe(1_783_465_200)
    // A current song without a cover shows the picture of the streamer; a past one does not.
    const picture = `${base}/api/station/harbour_fm/streamer/3/art-1.jpg`
    expect(read({ ...live, history: [aPlay()] }, 'rest')).toMatchObject({
      now_playing: { song: { art: picture } },
      song_history: [{ song: { art: expect.stringContaining('generic_song') } }]
    })
    expect(shownArtUrl(live, base)).toBe(picture)
  })

  test('has an empty list if no custom fields are defined', () => {
    expect(read(live, 'event').now_playing.song.custom_fields).toEqual([])
  })
})

describe('elapsed and remaining', () => {
  const moving = (state: StationState, atSeconds: number) => {
    const { elapsed, remaining } = read(state, 'rest', atSeconds).now_playing
    return [elapsed, remaining]
  }

  test('change by one per second, and stay within the length', () => {
    expect(moving(harbour, 1_783_468_790)).toEqual([0, 215])
    expect(moving(harbour, 1_783_468_793)).toEqual([3, 212])
    expect(moving(harbour, 1_783_468_780)).toEqual([0, 215])
    expect(moving(harbour, 1_783_469_999)).toEqual([215, 0])
  })

  test('are zero if the length is unknown', () => {
    expect(moving(live, nowSeconds)).toEqual([0, 0])
  })

  test('stay at the end of the last song while a jingle plays', () => {
    const jingle = { ...harbour, current: { shId: 4313, dueAtMs: 1, isVisible: false } }
    expect(moving(jingle, 1_783_468_800)).toEqual([215, 0])
  })
})

test('a silent station shows the offline song, its history and what comes next', () => {
  const silent = aStation({ shown: null, history: harbour.history, next: harbour.next })
  const document = read(silent, 'rest')
  expect(document.is_online).toBe(false)
  expect(document.now_playing).toMatchObject({
    sh_id: 0,
    played_at: 0,
    duration: 0,
    elapsed: 0,
    remaining: 0,
    song: {
      id: '5a6a865199cf5df73b1417326d2ff24f',
      text: 'Station Offline',
      title: 'Station Offline',
      artist: ''
    }
  })
  expect(document.song_history).toHaveLength(1)
  expect(document.playing_next).not.toBeNull()
})

test('listen_url is the first remote without mounts, else empty', () => {
  const remotes = [{ id: 4, name: 'North', url: 'https://north.example.net/x', bitrate: 0, format: '' }]
  expect(read(aStation({ profile: { remotes } }), 'rest').station.listen_url).toBe(
    'https://north.example.net/x'
  )
  expect(read(aStation(), 'rest').station.listen_url).toBe('')
})

test('text that could break JSON or HTML is unchanged', () => {
  const title = '"]}</script>\u2028\\ 🎵 1999'
  const state = aStation({ shown: aPlay({ song: aSong({ title }) }) })
  expect(read(state, 'event').now_playing.song.title).toBe(title)
})

describe('in the dialect of AzuraCast', () => {
  const { station, live: offAir, ...event } = read(harbour, 'event')

  test('the document is that of events, with the station and the text of songs as AzuraCast answers them', () => {
    const hls = { hlsEnabled: false, hlsIsDefault: true }
    const profile = { ...harbour.profile, ...hls, url: '', requestsEnabled: true }
    const [mount] = profile.mounts
    const silent = { id: 9, name: 'Off', url: 'https://off.example.net/', bitrate: 0, format: '' }
    const state = {
      ...harbour,
      profile: {
        ...profile,
        mounts: mount ? [mount, { ...mount, id: 2, hasAutodj: false }] : [],
        remotes: [...profile.remotes, silent]
      }
    }
    const document = read(state, 'azuracast')
    const { now_playing: playing } = event
    const song = { ...playing.song, text: 'Nils Okada - Low Water - Paper Lanterns' }
    expect(document).toMatchObject({ ...event, now_playing: { ...playing, song }, cache: 'hit' })
    expect(document.live).toEqual(offAir)
    expect(document.station).toMatchObject({
      url: null,
      hls_enabled: false,
      hls_is_default: false,
      hls_url: null,
      requests_enabled: true,
      mounts: [station.mounts[0], { id: 2, bitrate: null, format: null }],
      remotes: [station.remotes[0], { id: 9, bitrate: null, format: null }]
    })
    expect(read(state, 'azuracast event')).toEqual({ ...document, cache: 'event' })
  })

  test('the elapsed time of a song of unknown length grows', () => {
    const open = aStation({ shown: aPlay({ startedAtMs: nowSeconds * 1000, durationMs: 0 }) })
    const at = (variant: NowPlayingVariant) => read(open, variant, nowSeconds + 90).now_playing
    expect(at('azuracast')).toMatchObject({ duration: 0, elapsed: 90, remaining: 0 })
    expect(at('event')).toMatchObject({ duration: 0, elapsed: 0, remaining: 0 })
  })
})
