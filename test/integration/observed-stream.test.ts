import { expect } from 'vitest'

import { recordStreamObservation } from '../../src/engine/plays/observe-stream.ts'
import { publishStation } from '../../src/engine/repair-states.ts'
import { computeSongId } from '../../src/model/songs/song.ts'
import { isStationOnline } from '../../src/model/station/state.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { readHistory, seedStation } from '../support/stations.ts'

const startMs = Date.now() - 600_000

test('a station without a playout shows the song of its streaming server, matched to its library', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const id = await seedStation(sql)
  await sql`update stations set backend = 'none' where id = ${id}`
  await sql`update media set song_id = ${computeSongId('Artist 3 - Title 3')} where station_id = ${id} and title = 'Title 3'`
  const observe = (seconds: number, artist: string, title: string, isConnected = true) =>
    recordStreamObservation(playout, id, { isConnected, artist, title, atMs: startMs + seconds * 1000 })
  await observe(0, '', '')
  expect((await publishStation(playout, id))?.shown?.song.title).toBe('Live Broadcast')
  await observe(5, 'Artist 3', 'Title 3')
  await observe(10, 'Artist 3', 'Title 3')
  const state = await publishStation(playout, id)
  expect(state).toMatchObject({
    current: { dueAtMs: null },
    shown: { durationMs: 60_000, song: { album: '', title: 'Title 3' } }
  })
  await observe(75, 'Ann', 'Home')
  await observe(80, 'Ann', 'Home', false)
  await observe(85, 'Ann', 'Home', false)
  expect(isStationOnline((await publishStation(playout, id)) ?? { current: 1, live: 1 })).toBe(false)
  const second = (ms: number | null) => (ms === null ? null : (ms - startMs) / 1000)
  const plays = await readHistory(sql, id)
  expect(plays.map(play => [play.title, second(play.startedAtMs), second(play.endedAtMs)])).toEqual([
    ['Live Broadcast', 0, 5],
    ['Title 3', 5, 75],
    ['Home', 75, 80]
  ])
})

test('a streamer whose stream has ended for half a minute is no longer live', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const id = await seedStation(sql)
  await sql`insert into broadcasts (station_id, username, streamer_name, started_at_ms)
    values (${id}, 'source', 'Live', ${startMs})`
  const observe = async (seconds: number, isConnected: boolean) => {
    await recordStreamObservation(playout, id, {
      isConnected,
      artist: '',
      title: '',
      atMs: startMs + seconds * 1000
    })
    return (await publishStation(playout, id))?.live !== null
  }
  expect(await observe(5, true)).toBe(true)
  expect(await observe(10, false)).toBe(true)
  expect(await observe(35, true)).toBe(true)
  expect(await observe(40, false)).toBe(true)
  expect(await observe(60, false)).toBe(true)
  expect(await observe(71, false)).toBe(false)
})
