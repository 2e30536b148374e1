import { playbackDelayMs } from '../../../src/commands/from-azuracast/steps/history.ts'
import type { RecordList } from './record-lists.ts'
import { songColumns } from './song-columns.ts'
import type { Row, World } from './world.ts'

/** Stations whose whole history is compared. */
const wholeStations = 3
/** Plays of one list: it would be cut off at 100,000. */
const windowPlays = 20_000
/** Plays of the other stations, drawn from all. */
const samples = 2_000

/** The history of a few stations, and single plays of the others. */
export function* playLists(world: World): Generator<RecordList> {
  const { stations, sizes } = world
  for (const station of stations.slice(0, wholeStations)) {
    const ids = idsOf(world, station)
    for (let start = 0; start < ids.length; start += windowPlays) {
      const window = ids.slice(start, start + windowPlays)
      yield listOf(world, station, window)
    }
  }
  if (stations.length <= wholeStations) return
  const draw = openDraw(sizes.plays)
  for (let count = 0; count < samples; count++) {
    const id = draw()
    yield listOf(world, Number(world.play(id)['station_id']), [id])
  }
}

/** The plays of a station, oldest first. */
function idsOf({ sizes }: World, station: number): number[] {
  const ids: number[] = []
  for (let id = station; id <= sizes.plays; id += sizes.stations) ids.push(id)
  return ids
}

/** The list from the first to the last of some plays. */
function listOf(world: World, station: number, ids: readonly number[]): RecordList {
  const secondOf = (id = 0) => {
    const at = world.play(id)['timestamp_start']
    return at instanceof Date ? (at.getTime() + playbackDelayMs) / 1_000 : 0
  }
  const period = `start=${secondOf(ids[0])}&end=${secondOf(ids.at(-1))}`
  return { path: `/api/station/${station}/history?${period}`, rows: expandPlays(world, ids) }
}

function* expandPlays(world: World, ids: readonly number[]): Generator<Row> {
  for (const id of ids) {
    const row = world.play(id)
    const [playlist] = world.find('station_playlists', 'id', row['playlist_id'])
    const [streamer] = world.find('station_streamers', 'id', row['streamer_id'])
    yield {
      ...row,
      ...songColumns(world, row['media_id']),
      playlist: playlist?.['name'] ?? '',
      streamer: streamer?.['display_name'] ?? '',
      is_request: row['request_id'] !== null
    }
  }
}

/** Draws numbers from 1 to `most`, always the same ones. */
function openDraw(most: number): () => number {
  let state = 20_260_101
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (state % most) + 1
  }
}
