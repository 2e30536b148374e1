import { literalLimit } from '../batches.ts'
import type { Fragment, Sql, Tx } from '../sql.ts'
import { isBelowKeyFragment } from './stored-names.ts'

/*
 * Folders that are assigned to playlists. A song in a folder or below it is in the playlist: by hand, or with
 * `is_from_folder`. Whatever adds or moves songs, or changes folders of playlists, calls `syncFolderSongs` in its
 * transaction. So that none misses the other, songs are written with `lockImports` or in a change of their station,
 * and folders with both.
 */

/** The most folders of a playlist. */
export const maxFoldersOfPlaylist = 500

/** SQL: the folder of a local storage location of a station, with its slash; null if there is none. */
const mediaRoot = (sql: Sql | Tx, stationId: number) => sql`(
  select rtrim(l.path, '/') || '/' from stations s join storage_locations l on l.id = s.media_storage_location_id
  where s.id = ${stationId} and l.adapter = 'local')`

/**
 * SQL: what the paths of songs in a folder `f` begin with, and its other form or null: imports store absolute paths,
 * uploads those that are relative to the storage location.
 */
function prefixesOf(sql: Sql | Tx, stationId: number): readonly [Fragment, Fragment] {
  const root = mediaRoot(sql, stationId)
  return [
    sql`case f.path when '' then '' else f.path || '/' end`,
    sql`case when starts_with(f.path, ${root}) then substr(f.path, length(${root}) + 1) || '/'
      when f.path <> '' and not starts_with(f.path, '/') then ${root} || f.path || '/' end`
  ]
}

/** SQL: whether a folder `f`, in any form of its name, contains a song `m` of a station. */
export function isInFolderFragment(sql: Sql | Tx, stationId: number): Fragment {
  const [prefix, other] = prefixesOf(sql, stationId)
  return sql`(starts_with(name_key(m.path), name_key(${prefix})) or starts_with(name_key(m.path), name_key(${other})))`
}

/** The songs, or the playlist, whose tracks are compared with the folders. */
type FolderScope =
  | { readonly stationId: number; readonly mediaIds: readonly number[] }
  | { readonly stationId: number; readonly playlistId: number }

/** How many tracks were added and removed. */
export interface AppliedFolders {
  readonly added: number
  readonly removed: number
}

/** Tracks that one statement adds or removes, so that it ends within its timeout. */
const tracksAtOnce = 20_000

/**
 * Appends songs to the playlists of their folders, by path, and removes those that were added in this way and are no
 * longer in one. Songs that were added by hand keep their place.
 */
export async function syncFolderSongs(tx: Tx, scope: FolderScope): Promise<AppliedFolders> {
  const total = { added: 0, removed: 0 }
  // Most stations have no folders, and then no tracks of folders.
  if ('mediaIds' in scope && (scope.mediaIds.length === 0 || !(await hasFolders(tx, scope)))) return total
  for (;;) {
    const { added, removed } = await applyOnce(tx, scope)
    total.added += added
    total.removed += removed
    if (added < tracksAtOnce && removed < tracksAtOnce) return total
  }
}

async function hasFolders(tx: Tx, { stationId }: FolderScope): Promise<boolean> {
  const [found] = await tx`
    select from playlists p join playlist_folders f on f.playlist_id = p.id where p.station_id = ${stationId} limit 1`
  return found !== undefined
}

/**
 * The plan must not depend on the numbers of tracks and songs, of which Postgres may know nothing: so tracks are
 * compared with songs by grouping, and looked up by their ids.
 */
async function applyOnce(tx: Tx, scope: FolderScope): Promise<AppliedFolders> {
  const { stationId } = scope
  const [prefix, other] = prefixesOf(tx, stationId)
  const own = tx`select m.id, m.path from media m where m.station_id = ${stationId} and m.remote_playlist_id is null`
  // Songs are looked up by their ids, or in the index by folder and, for those in another form than the key, in that by
  // key.
  const [songs, ofPlaylists, ofTracks] =
    'mediaIds' in scope
      ? [
          tx`${own} and m.id = any(${[...scope.mediaIds]}::bigint[])
            and starts_with(name_key(m.path), name_key(x.prefix))`,
          tx`p.station_id = ${stationId}`,
          tx`media_id = any(${[...scope.mediaIds]}::bigint[])`
        ]
      : [
          tx`${own} and (media_folder(m.path) collate "C") >= name_key(x.prefix)
              and (media_folder(m.path) collate "C") < name_key(x.prefix) || ${'\u{10FFFF}'}
            union all
            ${own} and ${isBelowKeyFragment(tx, tx`x.prefix`)}`,
          tx`p.station_id = ${stationId} and p.id = ${scope.playlistId}`,
          tx`playlist_id = ${scope.playlistId}`
        ]
  const [applied] = await tx<AppliedFolders[]>`
    with wanted as materialized (
      select distinct p.id as playlist_id, m.id as media_id, m.path
      from playlists p join playlist_folders f on f.playlist_id = p.id
        cross join lateral (values (${prefix}), (${other})) as x (prefix)
        cross join lateral (${songs}) m
      where ${ofPlaylists}
    ), unwanted as (
      select max(id) as id from (
        select id, playlist_id, media_id from playlist_tracks where is_from_folder and ${ofTracks}
        union all select null, playlist_id, media_id from wanted
      ) t
      group by playlist_id, media_id having count(*) = 1 and max(id) is not null
      ${literalLimit(tx, tracksAtOnce)}
    ), removed as (
      delete from playlist_tracks where id = any(array(select id from unwanted)) returning id
    ), missing as (
      select w.* from wanted w where not exists (
        select from playlist_tracks t where t.playlist_id = w.playlist_id and t.media_id = w.media_id)
      order by w.path, w.media_id ${literalLimit(tx, tracksAtOnce)}
    ), added as (
      insert into playlist_tracks (playlist_id, media_id, position, is_from_folder)
      select m.playlist_id, m.media_id,
        last.position + row_number() over (partition by m.playlist_id order by m.path, m.media_id), true
      from (select distinct playlist_id from missing) p
        cross join lateral (
          select coalesce(max(position), 0) as position from playlist_tracks where playlist_id = p.playlist_id) last
        join missing m on m.playlist_id = p.playlist_id
      on conflict do nothing
      returning id
    )
    select (select count(*) from added)::integer as added, (select count(*) from removed)::integer as removed`
  return applied ?? { added: 0, removed: 0 }
}

/** A folder without slashes at its end, as it is stored. */
export const toFolderPath = (path: string): string => path.replace(/\/+$/, '')

/** Assigns folders to a playlist of songs, which gets their songs. The folders remain while they are empty. */
export async function assignFoldersToPlaylistId(
  tx: Tx,
  { stationId, playlistId }: { readonly stationId: number; readonly playlistId: number },
  paths: readonly string[]
): Promise<AppliedFolders> {
  await tx`
    insert into playlist_folders (playlist_id, path) select ${playlistId}::bigint, x.path
    from unnest(${[...paths]}::text[]) as x (path)
    where not exists (
      select from playlist_folders f where f.playlist_id = ${playlistId} and name_key(f.path) = name_key(x.path))
    on conflict do nothing`
  await keepFolders(tx, stationId, paths)
  return syncFolderSongs(tx, { stationId, playlistId })
}

/** Keeps folders while they are empty, as far as they are in the media folder. */
async function keepFolders(tx: Tx, stationId: number, paths: readonly string[]): Promise<void> {
  const inner = paths.filter(path => path !== '' && !/^(\/|https?:\/\/)/i.test(path))
  await tx`
    insert into media_folders (station_id, path) select ${stationId}::bigint, unnest(${inner}::text[])
    on conflict do nothing`
}

/** A playlist to which a folder is assigned; `folder` is the one above that is, null: itself. */
export interface FolderPlaylist {
  readonly id: number
  readonly name: string
  readonly folder: string | null
}

/** Reads to which playlists folders, or those above them, are assigned. Folders without any are absent. */
export async function readFolderPlaylists(
  sql: Sql,
  stationId: number,
  paths: readonly string[]
): Promise<ReadonlyMap<string, readonly FolderPlaylist[]>> {
  const rows = await sql<{ path: string; playlists: FolderPlaylist[] }[]>`
    select x.path, jsonb_agg(
        jsonb_build_object('id', p.id, 'name', p.name, 'folder', nullif(f.path, x.path))
        order by f.path <> x.path, p.id, f.path
      ) as playlists
    from unnest(${[...paths]}::text[]) as x (path) cross join lateral (select x.path || '/' as path) m
      join playlists p on p.station_id = ${stationId}
      join playlist_folders f on f.playlist_id = p.id and ${isInFolderFragment(sql, stationId)}
    group by x.path`
  return new Map(rows.map(({ path, playlists }) => [path, playlists]))
}
