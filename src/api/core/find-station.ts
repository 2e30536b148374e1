import { shortNamePattern } from '../../model/station/short-name.ts'
import { findStationsByFormerNames } from '../../stores/db/former-names.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { PathStation } from './route.ts'

type FoundStation = PathStation & { readonly isPublic: boolean }

/** Finds a station by id (all digits), short name or former name; null if there is none, after the same time. */
export const findStationByName = async (sql: Sql, name: string): Promise<FoundStation | null> =>
  (await findStationsByName(sql, [name])).get(name) ?? null

const isId = (name: string) => /^(0|[1-9]\d{0,15})$/.test(name)

/** Finds stations by ids (all digits), short names and former names. Returns them by name, without unknown names. */
export async function findStationsByName(
  sql: Sql,
  names: readonly string[]
): Promise<ReadonlyMap<string, FoundStation>> {
  const ids = names.filter(isId).map(Number)
  // Postgres refuses NUL. A short name is never all digits.
  const shortNames = names.filter(name => !isId(name) && !name.includes('\0'))
  const found = await sql<FoundStation[]>`
    select id, short_name as "shortName", is_public as "isPublic" from stations
    where (id = any(${ids}::bigint[]) or short_name = any(${shortNames}::text[])) and deleted_at is null`
  const renamed = await findStationsByFormerNames(
    sql,
    shortNames.filter(name => !shortNamePattern.test(name))
  )
  return new Map([
    ...found.flatMap((station): [string, FoundStation][] => [
      [String(station.id), station],
      [station.shortName, station]
    ]),
    ...renamed
  ])
}
