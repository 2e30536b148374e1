import type { Sql, Tx } from './sql.ts'

/*
 * Stations that were taken over from AzuraCast under another short name are found by the former one as well. It has
 * characters that short names do not have, so that no other station can have it. It is a row of `settings`.
 */

/** The name of the row, without the id of the station. */
export const formerNamePrefix = 'former short name of station '

/** Stores the former name of a station, unless it has one or another station has it. */
export async function storeFormerName(sql: Sql | Tx, stationId: number, name: string): Promise<void> {
  await sql`
    insert into settings (name, value)
    select ${formerNamePrefix + String(stationId)}, ${name}
    where not exists (select from settings where starts_with(name, ${formerNamePrefix}) and value = ${name})
    on conflict (name) do nothing`
}

export async function deleteFormerName(tx: Tx, stationId: number): Promise<void> {
  await tx`delete from settings where name = ${formerNamePrefix + String(stationId)}`
}

/** Finds stations by their former names. */
export async function findStationsByFormerNames(sql: Sql | Tx, names: readonly string[]) {
  if (names.length === 0) return []
  const found = await sql<{ name: string; id: number; shortName: string; isPublic: boolean }[]>`
    select f.value as name, s.id, s.short_name as "shortName", s.is_public as "isPublic"
    from settings f join stations s on s.id = case
      when starts_with(f.name, ${formerNamePrefix}) then substr(f.name, ${formerNamePrefix.length + 1})::bigint end
    where f.value = any(${[...names]}::text[]) and s.deleted_at is null`
  return found.map(({ name, ...station }) => [name, station] as const)
}
