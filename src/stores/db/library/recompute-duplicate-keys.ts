import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import type { Tx } from '../sql.ts'
import { listedArtistsFragment } from './media-rows.ts'

/** With more changes of a library, the workers read all of it again. */
const songsAtOnce = 1_000
/** The workers plan the queue of each station whose songs change. */
const stationsAtOnce = 10

interface KeyedSong {
  readonly id: number
  readonly stationId: number
  readonly artist: string
  readonly artists: readonly string[]
  readonly title: string
  readonly titleKey: number | null
  readonly artistKeys: readonly number[] | null
}

/**
 * Computes the keys for duplicate checks of the next songs, by station and id, and writes those that differ from the
 * stored ones. `position` is the station and id of the last song before and after. Returns the number of songs; 0:
 * there are no more.
 */
export async function recomputeDuplicateKeys(
  tx: Tx,
  progress: { position: readonly number[] }
): Promise<number> {
  const [stationId = 0, mediaId = 0] = progress.position
  const songs = await tx<KeyedSong[]>`
    select ${columnsOf(tx)} from media m
    where (m.station_id, m.id) > (${stationId}::bigint, ${mediaId}::bigint)
    order by m.station_id, m.id limit ${songsAtOnce}`
  const { end, changedIds } = findOtherKeys(songs)
  await writeKeys(tx, changedIds)
  const last = songs[end - 1]
  if (last) progress.position = [last.stationId, last.id]
  return end
}

const columnsOf = (tx: Tx) => tx`
  m.id, m.station_id as "stationId", m.artist, ${listedArtistsFragment(tx)} as artists, m.title,
  m.title_key as "titleKey", m.artist_keys as "artistKeys"`

/** Finds the songs whose keys differ, up to those of one station too many. `end` is the number of songs until there. */
function findOtherKeys(songs: readonly KeyedSong[]) {
  const changedIds: number[] = []
  const stationIds = new Set<number>()
  for (const [end, song] of songs.entries()) {
    if (!hasOtherKeys(song)) continue
    if (stationIds.add(song.stationId).size > stationsAtOnce) return { end, changedIds }
    changedIds.push(song.id)
  }
  return { end: songs.length, changedIds }
}

const hasOtherKeys = (song: KeyedSong) =>
  song.titleKey !== titleKey(song.title) ||
  song.artistKeys?.join() !== artistKeys(song.artist, song.artists).join()

/** Reads the songs again, locked in the order of imports, because they may have changed. */
async function writeKeys(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const songs = await tx<KeyedSong[]>`
    select ${columnsOf(tx)} from media m where m.id = any(${[...ids]}::bigint[])
    order by m.station_id, m.id for no key update`
  const keys = songs.map(({ id, artist, artists, title }) => ({
    id,
    title: titleKey(title),
    artists: artistKeys(artist, artists)
  }))
  await tx`
    update media m set title_key = k.title, artist_keys = k.artists
    from jsonb_to_recordset(${tx.json(keys)}) as k (id bigint, title bigint, artists bigint[])
    where m.id = k.id`
}
