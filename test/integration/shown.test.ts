import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { isPub, type Publication, subscribeLive } from '../support/live-client.ts'
import { type JsonBody, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

/** A write and its visible effect in the now-playing document. */
interface Case {
  readonly what: string
  readonly write: (program: Program, stationId: number) => Promise<{ status: number }>
  readonly shows: (document: JsonBody) => boolean
}

const cases: Case[] = [
  {
    what: 'the new name of the station',
    write: async ({ ask }, id) => ask('PUT', `/api/admin/station/${id}`, { body: { name: 'Renamed FM' } }),
    shows: ({ station }) => station.name === 'Renamed FM'
  },
  {
    what: 'a new mount',
    write: async ({ ask }, id) =>
      ask('POST', `/api/station/${id}/hls_streams`, { body: { name: '/new.ogg', autodj_format: 'ogg' } }),
    shows: ({ station }) => station.mounts.some(({ path }: JsonBody) => path === '/new.ogg')
  },
  {
    what: 'a hidden mount',
    write: async ({ ask }, id) => {
      const [mount] = (await ask('GET', `/api/station/${id}/hls_streams`)).body
      const body = { is_visible_on_public_pages: false }
      return ask('PUT', `/api/station/${id}/hls_stream/${mount.id}`, { body })
    },
    shows: ({ station }) => station.mounts.length === 0
  },
  {
    what: 'the removal of a song from the queue',
    write: async ({ ask }, id) => {
      const [next] = (await ask('GET', `/api/station/${id}/queue`)).body
      return ask('DELETE', new URL(next.links.self).pathname)
    },
    shows: ({ playing_next: next }) => next !== null
  },
  {
    what: 'the new name of the playlist',
    write: async ({ ask }, id) => {
      const [playlist] = (await ask('GET', `/api/station/${id}/playlists`)).body
      return ask('PUT', `/api/station/${id}/playlist/${playlist.id}`, { body: { name: 'Renamed rotation' } })
    },
    shows: ({ playing_next: next }) => next?.playlist === 'Renamed rotation'
  },
  {
    what: 'a disabled playlist',
    write: async ({ ask }, id) => {
      const [playlist] = (await ask('GET', `/api/station/${id}/playlists`)).body
      return ask('PUT', `/api/station/${id}/playlist/${playlist.id}`, { body: { is_enabled: false } })
    },
    shows: ({ playing_next: next }) => next === null
  },
  {
    what: 'a new custom field',
    write: async ({ ask }) => ask('POST', '/api/admin/custom_fields', { body: { name: 'Shown at once' } }),
    shows: ({ now_playing: playing }) => Object.hasOwn(playing.song.custom_fields, 'shown_at_once')
  },
  {
    what: 'the new title of the current song',
    write: async ({ ask }, id) => {
      const { now_playing: playing } = (await ask('GET', `/api/nowplaying/${id}`)).body
      const { title } = playing.song
      const [file] = (await ask('GET', `/api/station/${id}/files?searchPhrase=${encodeURIComponent(title)}`))
        .body
      return ask('PUT', `/api/station/${id}/file/${file.id}`, { body: { title: 'Corrected' } })
    },
    shows: ({ now_playing: playing }) => playing.song.title === 'Corrected'
  }
]

test.for(cases)(
  '$what is published at once, to WebSocket clients and in GET responses',
  async ({ write, shows: isShownIn }, { program }) => {
    const id = await seedStation(program.sql)
    await program.ask('PUT', `/api/admin/station/${id}`, { body: { description: 'on air' } })
    const before = (await program.ask('GET', `/api/nowplaying/${id}`)).body
    expect(before.is_online).toBe(true)
    const url = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
    const channel = `station:${before.station.shortcode}`
    const { until } = await subscribeLive(url, { subs: { [channel]: { recover: true } } })
    const { status } = await write(program, id)
    expect(status).toBe(200)
    const isShown = (frame: unknown): frame is Publication => isPub(frame) && isShownIn(frame.pub.data.np)
    await until(isShown)
    const polled = (await program.ask('GET', `/api/nowplaying/${id}`)).body
    expect(polled.station.id).toBe(id)
  }
)
