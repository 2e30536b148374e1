import type { Fragment, Sql, Tx } from './sql.ts'

/** Who goes live with the password of the station instead of an account of their own. */
export const sourceUser = 'source'

/** Who goes live, as it is shown. */
export interface Streamer {
  /** Null: the user `source`. */
  readonly id: number | null
  readonly displayName: string
  /** The path of the picture; empty: there is none. */
  readonly artPath: string
  /** The station lets streamers go live. */
  readonly mayBeLive: boolean
}

/** A station's streamer by username; the user `source` is one of every station. Null for any other name. */
export async function findStreamer(
  sql: Sql | Tx,
  stationId: number,
  username: string
): Promise<Streamer | null> {
  // Postgres refuses the character.
  if (username.includes('\0')) return null
  const [streamer] = await sql<Streamer[]>`
    select u.id, ${shownName(sql)} as "displayName", s.enable_streamers as "mayBeLive",
      case when u.artwork_hash is null then ''
        else '/api/station/' || s.short_name || '/streamer/' || u.id || '/art-' || left(u.artwork_hash, 8) || '.jpg'
      end as "artPath"
    from stations s left join streamers u on u.station_id = s.id and u.streamer_username = ${username}
    where s.id = ${stationId} and (u.id is not null or ${username === sourceUser})`
  return streamer ?? null
}

/** What the streamer `u` of the station `s` is called while live; without an account it is the station's text. */
export function shownName(sql: Sql | Tx): Fragment {
  return sql`coalesce(nullif(u.display_name, ''), u.streamer_username, s.live_text)`
}
