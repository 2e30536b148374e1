import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import {
  cleanLine,
  maxTagLengths,
  computeSongId,
  formatSongText,
  titleFromPath
} from '../../../model/songs/song.ts'
import type { Tx } from '../sql.ts'
import type { UpgradeStepProgress, UpgradeStep } from '../upgrade-step.ts'

/* Removes U+FFFD, which releases before 0.3.0 stored; see migration 0040. Names of files are not changed. */

const rowsPerBatch = 5_000

/** The next ids of a table, at most `rowsPerBatch`; null if there are no more. */
async function nextIds(tx: Tx, progress: UpgradeStepProgress, table: 'media' | 'song_history') {
  const [from = 0] = progress.position
  const [range] = await tx<{ to: number | null }[]>`
    select max(id) as "to" from (select id from ${tx(table)} where id > ${from} order by id limit ${rowsPerBatch}) next`
  if (!range || range.to === null) return null
  progress.position = [range.to]
  return { from, to: range.to }
}

interface SongRow {
  readonly id: number
  readonly songId: string
  readonly artist: string
  readonly title: string
  /** Empty for a play. */
  readonly path: string
}

/** Cleans artist and title. A song id that derives from them follows; that of an address does not. */
async function cleanSongs(tx: Tx, table: 'media' | 'song_history', songs: readonly SongRow[]): Promise<void> {
  for (const { id, path, ...old } of songs) {
    const artist = cleanLine(old.artist, maxTagLengths.artist)
    const name = cleanLine(old.title, maxTagLengths.title) || titleFromPath(path)
    const title = name === '' && artist === '' ? '?' : name
    const isDerived = old.songId === computeSongId(formatSongText(old.artist, old.title))
    const row = {
      artist,
      title,
      song_id: isDerived ? computeSongId(formatSongText(artist, title)) : old.songId,
      title_key: titleKey(title),
      artist_keys: artistKeys(artist)
    }
    await tx`update ${tx(table)} set ${tx(row)} where id = ${id}`
  }
}

const cleanMedia: UpgradeStep = {
  name: 'remove U+FFFD from songs',
  async run(tx, progress) {
    const ids = await nextIds(tx, progress, 'media')
    if (ids === null) return 0
    const { from, to } = ids
    await cleanSongs(
      tx,
      'media',
      await tx<SongRow[]>`
        select id, song_id as "songId", artist, title, path from media
        where id > ${from} and id <= ${to} and has_lost_characters(array[artist, title]) for update`
    )
    // The trigger removes them.
    await tx`
      update media set album = album, genre = genre, isrc = isrc, lyrics = lyrics
      where id > ${from} and id <= ${to} and has_lost_characters(array[album, genre, isrc, lyrics])`
    await tx`
      update media_custom_fields set value = value
      where media_id > ${from} and media_id <= ${to} and has_lost_characters(array[value])`
    return rowsPerBatch
  }
}

const cleanPlays: UpgradeStep = {
  name: 'remove U+FFFD from plays',
  async run(tx, progress) {
    const ids = await nextIds(tx, progress, 'song_history')
    if (ids === null) return 0
    const { from, to } = ids
    await cleanSongs(
      tx,
      'song_history',
      await tx<SongRow[]>`
        select id, song_id as "songId", artist, title, '' as path from song_history
        where id > ${from} and id <= ${to} and has_lost_characters(array[artist, title]) for update`
    )
    await tx`
      update song_history set album = album, genre = genre, isrc = isrc, playlist = playlist, streamer = streamer
      where id > ${from} and id <= ${to} and has_lost_characters(array[album, genre, isrc, playlist, streamer])`
    return rowsPerBatch
  }
}

const stationsPerBatch = 100

const cleanNames: UpgradeStep = {
  name: 'remove U+FFFD from names',
  async run(tx) {
    const playlists = await tx`update playlists set name = name where has_lost_characters(array[name])`
    const streamers = await tx`
      update streamers set display_name = display_name, comments = comments
      where has_lost_characters(array[display_name, comments])`
    // With a new revision the sweep publishes them.
    const stations = await tx`
      with found as (
        select id from stations where has_lost_characters(array[name, description, live_text, offline_text])
        limit ${stationsPerBatch} for no key update skip locked)
      update stations s set name = name, description = description, live_text = live_text, offline_text = offline_text,
        revision = next_revision(revision), station_revision = next_revision(revision)
      from found, (select set_config('cuewire.raises_revision', 'on', true)) setting where s.id = found.id`
    return playlists.count + streamers.count + stations.count
  }
}

/**
 * Adds a constraint to a table, in a transaction of its own, so that it waits for writers without holding another
 * table. An older release that runs again does not break it, because the triggers come first. Tried again if the table
 * is busy: whoever comes later waits behind this.
 */
const refuseNew = (table: 'media' | 'song_history', columns: readonly string[]): UpgradeStep => ({
  name: `check ${table} for U+FFFD`,
  async run(tx) {
    const name = `${table}_no_lost_characters`
    await tx`set local lock_timeout = '200ms'`
    await tx`
      alter table ${tx(table)} drop constraint if exists ${tx(name)},
        add constraint ${tx(name)} check (strpos(${tx.unsafe(columns.join(' || '))}, chr(65533)) = 0) not valid`
    return 0
  }
})

/** Removes U+FFFD from stored texts, and refuses new ones. */
export const lostCharacterSteps: readonly UpgradeStep[] = [
  cleanMedia,
  cleanPlays,
  cleanNames,
  refuseNew('media', ['artist', 'title', 'album', 'genre', 'isrc', 'lyrics']),
  refuseNew('song_history', ['artist', 'title', 'album', 'genre', 'isrc', 'playlist', 'streamer'])
]
