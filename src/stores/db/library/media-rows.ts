import { createHash } from 'node:crypto'

import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import type { SongCandidates } from '../../../model/songs/entry-location.ts'
import {
  generateUniqueId,
  type ImportedSong,
  computeSongId,
  type SongTags,
  formatSongText
} from '../../../model/songs/song.ts'
import { mapInTimeSlices, visitInTimeSlices } from '../../../platform/runtime/time-slices.ts'
import { unicodeNameKey } from '../../../platform/text/unicode-names.ts'
import type { Fragment, Sql, Tx } from '../sql.ts'
import { keepCorrections } from './corrections.ts'
import { cueColumns, cuesFragment, toCueColumns } from './cue-columns.ts'
import { syncFolderSongs } from './playlist-folders.ts'
import { findStoredSongs } from './stored-names.ts'
import { storeTagFieldValues } from './tag-fields.ts'

/*
 * `media.artists` are the artists that the file of a song lists for the text in `artists_for`. They are void once
 * `artist` is another text, because a person or a release that does not know them changed it.
 */

/** The artists that the file of a media `m` lists; empty if it lists none, or if its text was changed. */
export const listedArtistsFragment = (sql: Sql | Tx) =>
  sql`case when m.artists_for = m.artist then m.artists else '{}' end`

/** The values of the columns. */
export const toListedArtistsColumns = ({ artist, artists }: Pick<SongTags, 'artist' | 'artists'>) => ({
  artists: [...artists],
  artists_for: artists.length === 0 ? '' : artist
})

/** A cover of songs; its key is `hash`. */
export interface Cover {
  hash: string
  contentType: string
  bytes: Buffer
}

/** A song of the library. */
export interface KnownSong extends ImportedSong {
  /** Whether an import of this release read its file. */
  readonly isRead: boolean
}

/** What imports have read: 1: cue points, fades and gain too; 2: and `operator_cues` lists all that a person set. */
const tagVersion = 2

/** A cover with its key, the hash of the bytes. */
export function createCover(bytes: Buffer, contentType: string): Cover {
  return { hash: createHash('sha256').update(bytes).digest('hex'), contentType, bytes }
}

/** Finds the songs of a station at these paths, by path. */
export async function findMediaByPaths(sql: Sql, stationId: number, paths: string[]) {
  const songs = await sql<KnownSong[]>`
    select path, artist, ${listedArtistsFragment(sql)} as artists, title, album, genre, isrc, lyrics, duration_ms as "durationMs",
      null::jsonb as tags, ${cuesFragment(sql)} as cues,
      artwork_hash as "coverHash", size_bytes as "sizeBytes", modified_ms as "modifiedMs",
      tag_version = ${tagVersion} as "isRead"
    from media m where station_id = ${stationId} and remote_playlist_id is null and path = any(${paths}::text[])`
  return new Map(songs.map(song => [song.path, song]))
}

/** Stores covers with distinct keys. Existing ones are not sent again. */
export async function storeCovers(tx: Tx, covers: Cover[]): Promise<void> {
  const hashes = covers.map(cover => cover.hash)
  // Locked until songs refer to them, because unused covers are removed.
  const known = await tx<{ hash: string }[]>`
    select hash from artwork where hash = any(${hashes}::text[]) for key share`
  const knownHashes = new Set(known.map(row => row.hash))
  const rows = covers
    .filter(cover => !knownHashes.has(cover.hash))
    .map(({ hash, contentType, bytes }) => ({ hash, content_type: contentType, bytes }))
  if (rows.length > 0) await tx`insert into artwork ${tx(rows)} on conflict (hash) do nothing`
}

/** Locks imports of a station until the transaction ends. */
export async function lockImports(tx: Tx, stationId: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('cuewire import', ${stationId}))`
}

/**
 * Inserts songs with distinct paths and updates those whose path is known, except what a person set. Stores their
 * custom fields that are read from tags. New ones are added to the playlists of their folders. Returns the numbers;
 * `joined` is that of the tracks.
 */
export async function upsertMedia(
  tx: Tx,
  stationId: number,
  songs: readonly ImportedSong[],
  replacement = { replacesCorrections: false }
) {
  if (songs.length === 0) return { added: 0, updated: 0, unchanged: 0, joined: 0 }
  const corrected = await keepCorrections(tx, stationId, songs, replacement)
  const rows = corrected.map(song => ({
    station_id: stationId,
    unique_id: generateUniqueId(),
    path: song.path,
    song_id: computeSongId(formatSongText(song.artist, song.title)),
    title_key: titleKey(song.title),
    artist_keys: artistKeys(song.artist, song.artists),
    artist: song.artist,
    ...toListedArtistsColumns(song),
    title: song.title,
    album: song.album,
    genre: song.genre,
    isrc: song.isrc,
    lyrics: song.lyrics,
    duration_ms: song.durationMs,
    artwork_hash: song.coverHash,
    size_bytes: song.sizeBytes,
    modified_ms: song.modifiedMs,
    ...toCueColumns(song.cues),
    operator_cues: [...song.corrected],
    tag_version: tagVersion
  }))
  const written = await tx<{ id: number; isNew: boolean }[]>`
    insert into media ${tx(rows)}
    on conflict (station_id, path) where remote_playlist_id is null do update set
      song_id = excluded.song_id, title_key = excluded.title_key, artist_keys = excluded.artist_keys,
      artist = excluded.artist, artists = excluded.artists, artists_for = excluded.artists_for, title = excluded.title, album = excluded.album, genre = excluded.genre, isrc = excluded.isrc, lyrics = excluded.lyrics, duration_ms = excluded.duration_ms,
      artwork_hash = excluded.artwork_hash, size_bytes = excluded.size_bytes, modified_ms = excluded.modified_ms,
      ${tx.unsafe(cueColumnNames.map(column => `${column} = excluded.${column}`).join(', '))},
      operator_cues = excluded.operator_cues, tag_version = excluded.tag_version
    where
      (media.song_id, media.artist, media.artists, media.artists_for, media.title, media.album, media.genre, media.isrc, media.lyrics, media.duration_ms,
       media.artwork_hash, media.size_bytes, media.modified_ms, media.operator_cues, media.tag_version,
       ${tx.unsafe(cueColumnNames.map(column => `media.${column}`).join(', '))})
      is distinct from
      (excluded.song_id, excluded.artist, excluded.artists, excluded.artists_for, excluded.title, excluded.album, excluded.genre, excluded.isrc,
       excluded.lyrics, excluded.duration_ms, excluded.artwork_hash, excluded.size_bytes, excluded.modified_ms,
       excluded.operator_cues, excluded.tag_version, ${tx.unsafe(cueColumnNames.map(column => `excluded.${column}`).join(', '))})
    returning id, media.xmax = 0 as "isNew"`
  await storeTagFieldValues(tx, stationId, songs, replacement)
  const mediaIds = written.filter(({ isNew }) => isNew).map(({ id }) => id)
  const { added: joined } = await syncFolderSongs(tx, { stationId, mediaIds })
  return {
    added: mediaIds.length,
    updated: written.length - mediaIds.length,
    unchanged: songs.length - written.length,
    joined
  }
}

const cueColumnNames = Object.values(cueColumns)

/** Finds the station's first playlist of this name, or creates it. */
export async function getOrCreatePlaylist(tx: Tx, stationId: number, name: string): Promise<number> {
  const [known] = await tx<{ id: number }[]>`
    select id from playlists where station_id = ${stationId} and name_key(name) = name_key(${name})
    order by name <> ${name}, id limit 1`
  if (known) return known.id
  const [created] = await tx<{ id: number }[]>`
    insert into playlists (station_id, name, type, source, weight, is_enabled)
    values (${stationId}, ${name}, 'default', 'songs', 3, true)
    returning id`
  if (!created) throw new Error('insert gave no row')
  return created.id
}

/** Finds the ids of the songs at these paths, by path and in this order; unknown paths are absent. */
export async function findMediaIdsByPaths(
  tx: Tx,
  stationId: number,
  paths: readonly string[]
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>()
  for (let start = 0; start < paths.length; start += chunk) {
    const songs = await tx<{ id: number; path: string }[]>`
      select m.id, wanted.path from unnest(${paths.slice(start, start + chunk)}::text[])
        with ordinality as wanted (path, place)
      cross join lateral (
        -- The limit makes Postgres look up each row. It has no statistics of rows that were just written, and
        -- would compare each with each.
        select id from media where station_id = ${stationId} and path = wanted.path and remote_playlist_id is null limit 1
      ) m
      order by wanted.place`
    for (const { id, path } of songs) ids.set(path, id)
  }
  return ids
}

/** Rows that are compared and read at once. */
const chunk = 2_000

/**
 * Finds a song for each entry by path, else by a file name that only one song has. Names are also found in another form
 * of Unicode; the exact one comes first. Null if there is none.
 */
export async function matchEntriesToMedia(tx: Tx, stationId: number, wanted: readonly SongCandidates[]) {
  const wantedPaths = new Set<string>()
  await visitInTimeSlices(sliceMs, wanted, ({ paths }) => paths.forEach(path => wantedPaths.add(path)))
  const byPath = await mediaByPath(tx, stationId, [...wantedPaths])
  const wantedNames = new Set<string>()
  const found = await mapInTimeSlices(sliceMs, wanted, ({ paths, names }) => {
    const id = first(paths, byPath)
    if (id === null) names.forEach(name => wantedNames.add(name))
    return id
  })
  const byName = await mediaByName(tx, stationId, [...wantedNames])
  return mapInTimeSlices(
    sliceMs,
    wanted,
    ({ names }, index) =>
      found[index] ?? first(names, byName.exact) ?? first(names.map(unicodeNameKey), byName.byKey)
  )
}

const sliceMs = 8

const first = (keys: readonly string[], ids: ReadonlyMap<string, number>) =>
  keys.map(key => ids.get(key)).find(id => id !== undefined) ?? null

async function mediaByPath(tx: Tx, stationId: number, paths: readonly string[]) {
  const ids = new Map<string, number>()
  for (let start = 0; start < paths.length; start += chunk) {
    const songs = await findStoredSongs(tx, stationId, paths.slice(start, start + chunk))
    for (const [path, { id }] of songs) ids.set(path, id)
  }
  return ids
}

/** Only file names, or keys of them, that are unique in the station; addresses have none. */
async function mediaByName(tx: Tx, stationId: number, names: readonly string[]) {
  if (names.length === 0) return { exact: new Map<string, number>(), byKey: new Map<string, number>() }
  const find = async (name: Fragment, wanted: readonly string[]) => {
    const rows = await tx<{ id: number; name: string }[]>`
      select min(id) as id, name
      from (
        select id, ${name} as name from media
        where station_id = ${stationId} and remote_playlist_id is null and path !~* '^https?://'
      ) m
      group by name having count(*) = 1 and name = any(${[...wanted]}::text[])`
    return new Map(rows.map(({ id, name: found }) => [found, id]))
  }
  const exact = await find(tx`regexp_replace(path, '^.*/', '')`, names)
  const others = names.filter(name => !exact.has(name)).map(unicodeNameKey)
  if (others.length === 0) return { exact, byKey: new Map<string, number>() }
  return { exact, byKey: await find(tx`name_key(regexp_replace(path, '^.*/', ''))`, others) }
}
