import { access, constants, readdir } from 'node:fs/promises'

import type { Config } from '../../config.ts'
import { noCuePoints } from '../../model/songs/cue-points.ts'
import type { ImportedSong } from '../../model/songs/song.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { findMediaIdsByPaths, getOrCreatePlaylist, upsertMedia } from '../../stores/db/library/media-rows.ts'
import { appendMissingEntries, countOccurrences } from '../../stores/db/library/playlist-entries.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { insertStation } from '../../stores/db/stations.ts'
import catalogue from './demo-catalogue.json' with { type: 'json' }

/** Checks that `MEDIA_DIR` is a folder that can be listed. Throws an `OperatorError`. */
export async function assertMediaDir(folder: string): Promise<void> {
  try {
    await access(folder, constants.R_OK | constants.X_OK)
    await readdir(folder)
  } catch (error) {
    const reason = errorCodeOf(error) || String(error)
    throw new OperatorError(`MEDIA_DIR ${folder} is not a readable folder (${reason}): correct or unset it`)
  }
}

/**
 * Creates the station `demo` with the built-in catalogue, if `DEMO` is on and there is no station. With
 * `MEDIA_DIR` it has no songs, is created in any case, and its id is returned; otherwise null is returned.
 */
export async function prepareDemo(sql: Sql, config: Config): Promise<number | null> {
  if (config.MEDIA_DIR) return (await sql.begin(tx => getOrCreateDemo(tx))).id
  const [station] = await sql`select from stations where deleted_at is null limit 1`
  if (config.DEMO && !station) await createDemoStation(sql)
  return null
}

/** Creates the station `demo` with titles and lengths but no files, unless it exists. Returns its id. */
export async function createDemoStation(sql: Sql): Promise<number> {
  return sql.begin(async tx => {
    const { id, isNew } = await getOrCreateDemo(tx, 'The Open Goldberg Variations, around the clock.')
    if (!isNew) return id
    const songs = catalogue.tracks.map(toSong)
    await upsertMedia(tx, id, songs)
    const playlistId = await getOrCreatePlaylist(tx, id, 'Goldberg Variations')
    const paths = songs.map(song => song.path)
    const ids = await findMediaIdsByPaths(tx, id, paths)
    await appendMissingEntries(tx, playlistId, countOccurrences([...ids.values()]))
    return id
  })
}

async function getOrCreateDemo(tx: Tx, description = ''): Promise<{ id: number; isNew: boolean }> {
  const created = await insertStation(tx, { shortName: 'demo', name: 'Cuewire Demo', description })
  if (created !== null) {
    // Nothing streams until `npm run radio` shows it.
    await tx`update hls_streams set is_visible_on_public_pages = false where station_id = ${created}`
    return { id: created, isNew: true }
  }
  const [known] = await tx<{ id: number }[]>`select id from stations where short_name = 'demo'`
  if (!known) throw new Error('the demo station was deleted')
  return { id: known.id, isNew: false }
}

function toSong({ path, title, length }: (typeof catalogue.tracks)[number]): ImportedSong {
  const { artist, album, genre } = catalogue
  const [minutes = 0, seconds = 0] = length.split(':').map(Number)
  const durationMs = (minutes * 60 + seconds) * 1_000
  const tags = { artist, artists: [], title, album, genre, isrc: '', lyrics: '', durationMs }
  return { path, ...tags, tags: null, cues: noCuePoints, coverHash: null, sizeBytes: 0, modifiedMs: 0 }
}
