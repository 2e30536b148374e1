import { join } from 'node:path'

import { unicodeNameKey } from '../../../platform/text/unicode-names.ts'
import type { Fragment, Sql, Tx } from '../sql.ts'

/*
 * Finds songs and folders by names that may differ from the stored ones in Unicode composition
 * (`src/platform/text/unicode-names.ts`). The exact name comes first: where two stored names have one key, each is found by
 * its own. Stored names never change.
 */

/** SQL: whether media `m` is not stored under its key, so that its key is in the index `media_by_name_key`. */
const hasOtherForm = (sql: Sql | Tx): Fragment =>
  sql`m.remote_playlist_id is null and name_key(m.path) <> m.path`

/** Characters of a key in the index. */
const indexedLength = 600

/** SQL: the indexed part of a key. */
const indexedKey = (sql: Sql | Tx, key: Fragment): Fragment =>
  sql`left(${key}, ${sql.unsafe(String(indexedLength))}) collate "C"`

interface StoredSong {
  readonly id: number
  /** As stored. */
  readonly path: string
}

/**
 * Finds the songs of these paths, by the path as given. Unknown ones are absent. Each statement compares with a list,
 * so that its plan does not depend on how much Postgres knows about the table.
 */
export async function findStoredSongs(
  sql: Sql | Tx,
  stationId: number,
  paths: readonly string[]
): Promise<ReadonlyMap<string, StoredSong>> {
  const wanted = [...new Set(paths)]
  if (wanted.length === 0) return new Map()
  const own = sql`m.station_id = ${stationId} and m.remote_playlist_id is null`
  const stored = await sql<StoredSong[]>`
    select id, path from media m where ${own} and path = any(${[...new Set([...wanted, ...wanted.map(unicodeNameKey)])]}::text[])`
  const byPath = new Map(stored.map(song => [song.path, song]))
  const left = wanted
    .map(unicodeNameKey)
    .filter((key, index) => !byPath.has(key) && !byPath.has(wanted[index] ?? ''))
  const starts = [...new Set(left)].map(key => Array.from(key).slice(0, indexedLength).join(''))
  const others =
    starts.length === 0
      ? []
      : await sql<StoredSong[]>`
          select id, path from media m where ${own} and ${hasOtherForm(sql)}
            and ${indexedKey(sql, sql`name_key(m.path)`)} = any(${starts}::text[])
          order by path desc`
  const byKey = new Map(others.map(song => [unicodeNameKey(song.path), song]))
  return new Map(
    wanted.flatMap(path => {
      const song = byPath.get(path) ?? byPath.get(unicodeNameKey(path)) ?? byKey.get(unicodeNameKey(path))
      return song ? [[path, song] as const] : []
    })
  )
}

/**
 * Finds the path of a file in the library: an import may have stored it with its folder, and in another form of the
 * name. An unknown path is returned as it is. `folder` is that of local storage.
 */
export async function resolveLibraryPath(
  sql: Sql | Tx,
  stationId: number,
  path: string,
  folder: string | null
): Promise<string> {
  const candidates = folder === null ? [path] : [join(folder, path), path]
  const songs = await findStoredSongs(sql, stationId, candidates)
  const found = candidates.flatMap(candidate => songs.get(candidate)?.path ?? [])
  return found.find(each => candidates.includes(each)) ?? found[0] ?? path
}

/** SQL: whether the key of media `m` begins with that of a prefix, for songs that are not stored under their key. */
export function isBelowKeyFragment(sql: Sql | Tx, prefix: Fragment): Fragment {
  const start = indexedKey(sql, sql`name_key(${prefix})`)
  const indexed = indexedKey(sql, sql`name_key(m.path)`)
  return sql`${hasOtherForm(sql)} and starts_with(name_key(m.path), name_key(${prefix}))
    and ${indexed} >= ${start} and ${indexed} < (${start} || ${'\u{10FFFF}'})`
}

/**
 * Finds a folder, with songs or without; null if the station has none of this name. `path` has no slash at its end. The
 * result is as stored.
 */
export async function findStoredFolder(
  sql: Sql | Tx,
  stationId: number,
  path: string
): Promise<string | null> {
  const withSongs = (folder: Fragment, rank: number) => sql`
    select ${folder} as path, ${rank}::integer as rank where exists (
      select from media m where m.station_id = ${stationId} and m.remote_playlist_id is null
        and (media_folder(m.path) collate "C") >= ${folder} || '/'
        and (media_folder(m.path) collate "C") < ${folder} || ${'/\u{10FFFF}'})`
  const wanted = sql`${path}::text`
  // Composition never crosses a slash, so a folder has as many parts in each form.
  const parts = path.split('/').length
  const [folder] = await sql<{ path: string }[]>`
    select path from (
      select path, case path when ${path} then 0 else 1 end as rank from media_folders
      where station_id = ${stationId} and name_key(path) = name_key(${path})
      union all (${withSongs(wanted, 0)})
      union all (${withSongs(sql`name_key(${path}::text)`, 1)})
      union all (
        select array_to_string((string_to_array(m.path, '/'))[1:${parts}::integer], '/'), 2 from media m
        where m.station_id = ${stationId} and ${isBelowKeyFragment(sql, sql`${`${path}/`}::text`)}
        order by 1 limit 1)
    ) found order by rank, path limit 1`
  return folder?.path ?? null
}

/** A path with as much of its folder as is stored, in the form in which it is stored. */
async function toStoredFolder(sql: Sql | Tx, stationId: number, path: string): Promise<string> {
  const parts = path.split('/')
  let known = ''
  for (const [index, part] of parts.slice(0, -1).entries()) {
    const folder = known === '' && index === 0 ? part : `${known}/${part}`
    const isPlain = /^\p{ASCII}*$/u.test(part)
    const stored = isPlain ? folder : await findStoredFolder(sql, stationId, folder)
    if (stored === null) return [folder, ...parts.slice(index + 1)].join('/')
    known = stored
  }
  return known === '' && parts.length === 1 ? path : `${known}/${parts.at(-1) ?? ''}`
}

/**
 * The path at which a file or folder of this name is to be stored: that of the song or folder that has the name
 * already.
 */
export async function findStoredTarget(sql: Sql | Tx, stationId: number, path: string): Promise<string> {
  const song = (await findStoredSongs(sql, stationId, [path])).get(path)
  return song?.path ?? (await findStoredFolder(sql, stationId, path)) ?? toStoredFolder(sql, stationId, path)
}

/** Two songs of a station whose paths are one name. */
export interface DuplicateNamePair {
  readonly station: string
  /** As they look; both in one form. */
  readonly path: string
}

/** Counts the songs that share their name with another one of the station, and finds the first names. */
export async function findDuplicateNames(
  sql: Sql,
  limit: number
): Promise<{ readonly count: number; readonly first: readonly DuplicateNamePair[] }> {
  const rows = await sql<(DuplicateNamePair & { count: number })[]>`
    select s.short_name as station, p.key as path, count(*) over ()::integer as count
    from (
      select distinct m.station_id, name_key(m.path) as key from media m
      where ${hasOtherForm(sql)} and exists (
        select from media o where o.station_id = m.station_id and o.remote_playlist_id is null
          and o.path = name_key(m.path)
        union all
        select from media o where o.station_id = m.station_id and o.remote_playlist_id is null
          and name_key(o.path) <> o.path and o.id <> m.id and name_key(o.path) = name_key(m.path)
          and ${indexedKey(sql, sql`name_key(o.path)`)} = ${indexedKey(sql, sql`name_key(m.path)`)})
    ) p join stations s on s.id = p.station_id
    order by 1, 2 limit ${limit}`
  return { count: rows[0]?.count ?? 0, first: rows }
}
