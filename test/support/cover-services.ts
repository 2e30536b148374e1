import type { RequestListener } from 'node:http'

import { type CoverSource, createMusicBrainzSource } from '../../src/library/covers/find-cover.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { type Asked, startWebServer } from './web-server.ts'

/** The id of a release group. */
export const groupId = (number: number) => `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`

/** MusicBrainz and the Cover Art Archive on 127.0.0.1. */
export interface CoverServices extends AsyncDisposable {
  readonly url: string
  /** With a short pause between requests. */
  readonly source: CoverSource
  readonly asked: readonly Asked[]
  /** When the requests arrived, by `performance.now()`. */
  readonly times: readonly number[]
  /** Adds a recording to the answer of every search. */
  readonly addRecording: (artist: string, title: string, ...groups: number[]) => void
  /** Sets the answer to requests for the cover of a release group, 404 by default. */
  readonly addCover: (group: number, response: Buffer | RequestListener) => void
  /** Sets the answer to all requests; null: as above. */
  readonly respondToAll: (response: RequestListener | null) => void
}

export async function startCoverServices(): Promise<CoverServices> {
  const server = await startWebServer()
  const recordings: object[] = []
  const covers = new Map<string, Buffer | RequestListener>()
  const times: number[] = []
  let override: RequestListener | null = null
  server.respondWith((request, response) => {
    times.push(performance.now())
    if (override) return override(request, response)
    const { pathname } = new URL(request.url ?? '', server.url)
    if (pathname === '/ws/2/recording')
      return void response.end(JSON.stringify({ count: recordings.length, recordings }))
    const cover = covers.get(pathname)
    if (typeof cover === 'function') return cover(request, response)
    return cover ? void response.end(cover) : void response.writeHead(404).end()
  })
  return {
    url: server.url,
    source: {
      ...createMusicBrainzSource('https://radio.example.com/cuewire'),
      musicBrainzUrl: server.url,
      coverArtArchiveUrl: server.url,
      allowed: toNetworkList(['127.0.0.1']),
      spacingMs: 20
    },
    asked: server.asked,
    times,
    addRecording: (artist, title, ...groups) => {
      const releases = groups.map((group, index) => ({
        status: 'Official',
        date: String(2_000 + index),
        'release-group': { id: groupId(group), 'primary-type': 'Album' }
      }))
      recordings.push({ score: 100, title, 'artist-credit': [{ name: artist }], releases })
    },
    addCover: (group, response) => void covers.set(`/release-group/${groupId(group)}/front-500`, response),
    respondToAll: response => void (override = response),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()
  }
}
