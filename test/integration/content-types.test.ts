import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'

test('every response forbids browsers to guess its content type', async ({ program }) => {
  const { id, document } = await startPlaying(program)
  const name = document.station.shortcode
  const paths = [
    '/api/nowplaying',
    `/api/nowplaying/${id}`,
    `/api/nowplaying_static/${name}.json`,
    `/api/nowplaying_static/${name}.txt`,
    `/api/nowplaying_static/${id}.txt?wait=`,
    `/api/station/${id}/art/none`,
    `/api/station/${id}/history?format=csv`,
    '/api/openapi.json',
    '/api/docs',
    '/api/docs/start.js',
    '/static/img/generic_song.jpg',
    '/client.js',
    '/favicon.ico',
    '/',
    `/public/${name}`,
    `/public/${name}/oembed`,
    `/public/${name}/playlist.pls`,
    '/nowhere',
    '/api/live/nowplaying/sse?delay=x',
    '/api/live/nowplaying/websocket'
  ]
  const types = await Promise.all(
    paths.map(async path => [path, (await program.ask('GET', path)).headers.get('x-content-type-options')])
  )
  expect(types).toEqual(paths.map(path => [path, 'nosniff']))
})
