import type { StationIdentity } from '../../model/station/state.ts'
import { formerNamePrefix } from './former-names.ts'
import type { Fragment, Sql, Tx } from './sql.ts'

/** What a new station needs; all else has defaults in the schema. */
export interface NewStation {
  shortName: string
  name: string
  description?: string
}

/** The default mount. */
export const defaultMountPath = '/radio.mp3'

/** Creates a station with its default mount. Returns its id, or null if the short name is taken. */
export async function insertStation(sql: Sql | Tx, station: NewStation): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    with station as (
      insert into stations (short_name, name, description)
      values (${station.shortName}, ${station.name}, ${station.description ?? ''})
      on conflict (short_name) do nothing
      returning id
    ), mount as (
      insert into hls_streams (station_id, name, is_default) select id, ${defaultMountPath}, true from station
    )
    select id from station`
  return row?.id ?? null
}

/** Reads identities by station id, without unknown stations and those whose state was never stored. */
export async function readStationIdentities(sql: Sql, stationIds: readonly number[]) {
  const ids = [...stationIds]
  const rows = await sql<({ id: number } & StationIdentity)[]>`
    select id, epoch, short_name as "shortName", is_public as "isPublic",
      (select value from settings f where f.name = ${formerNamePrefix} || stations.id) as "formerName"
    from stations
    where id = any(${ids}::bigint[]) and epoch <> '' and deleted_at is null
    union all
    select d.id, null, '', false, null from deleted_stations d
    where d.id = any(${ids}::bigint[])
      and not exists (select from stations s where s.id = d.id and s.deleted_at is null)`
  return new Map(rows.map(({ id, ...identity }) => [id, identity]))
}

/** The user who connects with the password of the station instead of an account. */
export const sourceUsername = 'source'

/** A streamer as shown while live. */
interface Streamer {
  /** Null for the user `source`. */
  readonly id: number | null
  readonly displayName: string
  /** The path of the picture; empty if there is none. */
  readonly artPath: string
  /** Whether the station allows streamers. */
  readonly mayBeLive: boolean
}

/** Finds a streamer by username; every station has the user `source`. Null for any other name. */
export async function findStreamer(
  sql: Sql | Tx,
  stationId: number,
  username: string
): Promise<Streamer | null> {
  // Postgres does not accept this character.
  if (username.includes('\0')) return null
  const [streamer] = await sql<Streamer[]>`
    select u.id, ${shownDjNameFragment(sql)} as "displayName", s.enable_streamers as "mayBeLive",
      case when u.artwork_hash is null then ''
        else '/api/station/' || s.short_name || '/streamer/' || u.id || '/art-' || left(u.artwork_hash, 8) || '.jpg'
      end as "artPath"
    from stations s left join streamers u on u.station_id = s.id and name_key(u.streamer_username) = name_key(${username})
    where s.id = ${stationId} and (u.id is not null or ${username === sourceUsername})
    order by u.streamer_username <> ${username} limit 1`
  return streamer ?? null
}

/** The shown name of streamer `u` of station `s`; without an account, the live text of the station. */
export function shownDjNameFragment(sql: Sql | Tx): Fragment {
  return sql`coalesce(nullif(u.display_name, ''), u.streamer_username, s.live_text)`
}
