import type { Candidates } from '../songs/candidates.ts'
import type { Tx } from './sql.ts'

const chunk = 10_000

/**
 * Finds the song of a station for each of these: by the first of its paths that the library has, else by a file name
 * that only one song has. Null where there is none.
 */
export async function matchMedia(
  tx: Tx,
  stationId: number,
  wanted: readonly Candidates[]
): Promise<(number | null)[]> {
  const byPath = await mediaByPath(tx, stationId, [...new Set(wanted.flatMap(({ paths }) => paths))])
  const found = wanted.map(({ paths }) => first(paths, byPath))
  const left = wanted.filter((_, index) => found[index] === null)
  const byName = await mediaByName(tx, stationId, [...new Set(left.flatMap(({ names }) => names))])
  return wanted.map(({ names }, index) => found[index] ?? first(names, byName))
}

const first = (keys: readonly string[], ids: ReadonlyMap<string, number>) =>
  keys.map(key => ids.get(key)).find(id => id !== undefined) ?? null

async function mediaByPath(
  tx: Tx,
  stationId: number,
  paths: readonly string[]
): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (let start = 0; start < paths.length; start += chunk) {
    const rows = await tx<{ id: number; path: string }[]>`
      select id, path from media
      where station_id = ${stationId} and remote_playlist_id is null and path = any(${paths.slice(start, start + chunk)}::text[])`
    for (const { id, path } of rows) ids.set(path, id)
  }
  return ids
}

/** Of names that no other file of the station has; addresses have none. */
async function mediaByName(
  tx: Tx,
  stationId: number,
  names: readonly string[]
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await tx<{ id: number; name: string }[]>`
    select min(id) as id, name
    from (
      select id, regexp_replace(path, '^.*/', '') as name from media
      where station_id = ${stationId} and remote_playlist_id is null and path !~* '^https?://'
    ) m
    group by name having count(*) = 1 and name = any(${[...names]}::text[])`
  return new Map(rows.map(({ id, name }) => [name, id]))
}
