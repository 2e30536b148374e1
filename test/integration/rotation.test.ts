import { expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { findCachedLibrary } from '../../src/engine/queue/library-cache.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { createSeededRandom } from '../../src/model/autodj/random.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { judgeRotation } from '../chaos/judge-rotation.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStations } from '../support/stations.ts'

/** Ends plays of a station, each by the next one of the processes. */
async function play(processes: readonly EngineServices[], stationId: number, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const services = processes[number % processes.length]
    if (!services) throw new Error('there is no process')
    await advance(services, { stationId, endedShId: null, cause: 'skip' })
  }
}

const readPlays = (sql: Sql, stationId: number) => sql<{ id: number; trackId: number; pass: number }[]>`
  select id, track_id as "trackId", pass from song_history where station_id = ${stationId} order by id`

const addSong = async (sql: Sql, playlistId: number) => {
  const [track] = await sql<{ id: number }[]>`
    with m as (
      insert into media (station_id, unique_id, path, song_id, title, duration_ms)
      select station_id, left(md5(random()::text), 24), 'new.mp3', md5('new'), 'New', 1000
      from playlists where id = ${playlistId} returning id
    )
    insert into playlist_tracks (playlist_id, media_id, position) select ${playlistId}, id, 99 from m returning id`
  return track?.id
}

test.for([1, 2])(
  'a song that is added later is played as often as the others, with %i processes',
  async (count, { sql, redisUrl }) => {
    await using first = await openPlayout(sql, redisUrl)
    await using second = await openPlayout(sql, redisUrl)
    const processes = [first, second].slice(0, count)
    const [station] = await seedStations(sql, { tracks: 3, songMs: 1_000 })
    if (!station) throw new Error('no station was made')
    const { id: stationId, playlistId } = station
    await advance(first, { stationId, endedShId: 0, cause: 'wake' })
    await play(processes, stationId, 36)
    const addedId = await addSong(sql, playlistId)
    const before = (await readPlays(sql, stationId)).length
    await play(processes, stationId, 12)
    const plays = await readPlays(sql, stationId)
    const times = plays.slice(before).filter(({ trackId }) => trackId === addedId).length
    expect(times).toBeGreaterThanOrEqual(2)
    expect(times).toBeLessThanOrEqual(4)
    const [stored] = await sql<{ pass: number }[]>`select pass from playlists where id = ${playlistId}`
    for (const { libraries } of processes)
      expect(findCachedLibrary(libraries, stationId)?.playlists[0]?.pass).toBeGreaterThan(10)
    expect(stored?.pass).toBeGreaterThan(10)
  }
)

test('no song is more than a pass ahead while songs are removed and added all the time', async ({
  sql,
  redisUrl
}) => {
  await using services = await openPlayout(sql, redisUrl)
  const [station] = await seedStations(sql, { tracks: 8, songMs: 1_000 })
  if (!station) throw new Error('no station was made')
  const { id: stationId, playlistId } = station
  const songs = await sql<{ id: number }[]>`select id from media where station_id = ${stationId} order by id`
  const random = createSeededRandom(1, 1)
  await advance(services, { stationId, endedShId: 0, cause: 'wake' })
  for (let number = 0; number < 80; number++) {
    // Four songs stay.
    const song = songs[4 + Math.floor(random() * 4)]?.id ?? 0
    if (random() < 0.6)
      await sql`
        insert into playlist_tracks (playlist_id, media_id, position) values (${playlistId}, ${song}, 99) on conflict do nothing`
    else await sql`delete from playlist_tracks where playlist_id = ${playlistId} and media_id = ${song}`
    await play([services], stationId, 1)
  }
  const plays = (await readPlays(sql, stationId)).map(row => ({ ...row, playlistId }))
  expect(judgeRotation(stationId, plays)).toEqual([])
})
