import type { Sql, Tx } from './sql.ts'

/** What a new station needs; everything else has a default in the schema. */
export interface NewStation {
  shortName: string
  name: string
  description?: string
}

/** The stream that a new station begins with. */
export const firstStream = '/radio.mp3'

/**
 * Creates a station with its default mount `/radio.mp3` and gives its id, or null when the short name is taken.
 * Part of the caller's transaction when given one; run alone, a fault between the two inserts leaves neither.
 */
export async function createStation(sql: Sql | Tx, station: NewStation): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    with station as (
      insert into stations (short_name, name, description)
      values (${station.shortName}, ${station.name}, ${station.description ?? ''})
      on conflict (short_name) do nothing
      returning id
    ), mount as (
      insert into hls_streams (station_id, name, is_default) select id, ${firstStream}, true from station
    )
    select id from station`
  return row?.id ?? null
}
