import { expect } from 'vitest'

import { findSongUrlProblem, openSongUrlGuard } from '../../src/api/core/url-checks.ts'
import { sendNextSong } from '../../src/engine/playouts/send-next-song.ts'
import { refillStationQueue } from '../../src/engine/queue/queue.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStation } from '../support/stations.ts'

const configOf = (...WEBHOOK_ALLOWED_NETWORKS: string[]) => ({ config: { WEBHOOK_ALLOWED_NETWORKS } })

const privateSongs = [
  'http://127.0.0.1/admin.mp3',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]:8000/x.mp3',
  'http://2130706433/x.mp3',
  'http://localhost/x.mp3',
  'https://radio.example:22/x.mp3'
]

test('a playout gets no song at a private address, and the next one instead', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 8, queueLength: 8 })
  await sql`update stations set backend = 'liquidsoap' where id = ${stationId}`
  await refillStationQueue(playout, stationId)
  for (const [index, path] of privateSongs.slice(0, 3).entries())
    await sql`
      update media set path = ${path} where id = (
        select media_id from queue where station_id = ${stationId} order by position offset ${index} limit 1)`
  const strict = openSongUrlGuard(configOf())
  const song = await sendNextSong(playout, stationId, null, strict)
  expect(song?.path).toMatch(/^test:/)
  const left = await sql<{ path: string }[]>`
    select m.path from queue q join media m on m.id = q.media_id
    where q.station_id = ${stationId} and q.skipped_at_ms is not null order by q.position`
  expect(left.map(({ path }) => path)).toEqual(privateSongs.slice(0, 3))
  await sql`
    update media set path = 'http://127.0.0.1/' || id where station_id = ${stationId} and path like 'test:%'`
  expect(await sendNextSong(playout, stationId, song?.queueId ?? 0, strict)).toBe(null)
  const allowed = openSongUrlGuard(configOf('127.0.0.0/8'))
  expect((await sendNextSong(playout, stationId, song?.queueId ?? 0, allowed))?.path).toMatch(
    /^http:\/\/127\.0\.0\.1\/\d+$/
  )
})

test.for(privateSongs)('%s is refused for a song', async url => {
  expect(await openSongUrlGuard(configOf())(url)).toMatchObject({ code: 'unsafe_url' })
  // A name is looked up when a playout gets the song.
  if (!url.includes('localhost'))
    expect(findSongUrlProblem(configOf(), url)).toMatchObject({ code: 'unsafe_url' })
})

test.for(['folder/song.mp3', 'http:song.mp3'])('%s is a path, which is no address', async path => {
  expect(findSongUrlProblem(configOf(), path)).toBe(null)
  expect(await openSongUrlGuard(configOf())(path)).toBe(null)
})
