import { appendTracks, findOrCreatePlaylist, mediaIdsOf, upsertMedia } from '../db/media-rows.ts'
import type { Sql } from '../db/sql.ts'
import { insertStation } from '../db/stations.ts'
import type { ImportedSong } from '../songs/song.ts'
import catalogue from './demo-catalogue.json' with { type: 'json' }

/**
 * Creates the station `demo` with a playlist of real pieces and lengths but no files, which is all the clock
 * needs to show a living station. A station of that short name is left as it is. Gives the station's id.
 */
export async function createDemoStation(sql: Sql): Promise<number> {
  return sql.begin(async tx => {
    const stationId = await insertStation(tx, {
      shortName: 'demo',
      name: 'Cuewire Demo',
      description: 'The Open Goldberg Variations, around the clock.'
    })
    if (stationId === null) {
      const [known] = await tx<{ id: number }[]>`select id from stations where short_name = 'demo'`
      if (!known) throw new Error('the demo station is neither there nor new')
      return known.id
    }
    const songs = catalogue.tracks.map(songOf)
    await upsertMedia(tx, stationId, songs)
    const playlistId = await findOrCreatePlaylist(tx, stationId, 'Goldberg Variations')
    const paths = songs.map(song => song.path)
    await appendTracks(tx, playlistId, await mediaIdsOf(tx, stationId, paths))
    return stationId
  })
}

function songOf(track: (typeof catalogue.tracks)[number]): ImportedSong {
  const [minutes, seconds] = track.length.split(':').map(Number)
  return {
    path: track.path,
    artist: catalogue.artist,
    title: track.title,
    album: catalogue.album,
    genre: catalogue.genre,
    isrc: '',
    lyrics: '',
    durationMs: ((minutes ?? 0) * 60 + (seconds ?? 0)) * 1_000,
    coverHash: null,
    sizeBytes: 0,
    modifiedMs: 0
  }
}
