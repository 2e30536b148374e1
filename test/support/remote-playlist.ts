import type { RemoteListServices } from '../../src/engine/queue/remote-lists.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openPlayout } from './playout.ts'

/**
 * The dependencies of the list fetcher, on the database and Redis of a test. It may connect to this machine.
 */
export async function openListServices(
  sql: Sql,
  redisUrl: string
): Promise<RemoteListServices & AsyncDisposable> {
  const playout = await openPlayout(sql, redisUrl)
  return { ...playout, config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.0/8'] } }
}

/** Adds a remote playlist to a station, as if it had been saved. Returns its id. */
export async function addRemotePlaylist(
  sql: Sql,
  stationId: number,
  remoteUrl: string,
  { type = 'playlist', name = 'Remote' } = {}
): Promise<number> {
  const [playlist] = await sql<{ id: number }[]>`
    insert into playlists (station_id, name, source, remote_url, remote_type)
    values (${stationId}, ${name}, 'remote_url', ${remoteUrl}, ${type}) returning id`
  if (!playlist) throw new Error('no playlist was made')
  return playlist.id
}

/** The entries of a playlist in order. */
export function entriesOf(sql: Sql, playlistId: number) {
  return sql<
    {
      trackId: number
      mediaId: number
      position: number
      lastPass: number
      path: string
      songId: string
      artist: string
      title: string
      durationMs: number
    }[]
  >`
    select t.id as "trackId", m.id as "mediaId", t.position, t.last_pass as "lastPass", m.path, m.song_id as "songId",
      m.artist, m.title, m.duration_ms as "durationMs"
    from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} and m.remote_playlist_id = ${playlistId} order by t.position`
}

/** The URLs of the entries. */
export async function pathsOf(sql: Sql, playlistId: number): Promise<string[]> {
  return (await entriesOf(sql, playlistId)).map(({ path }) => path)
}

/** The fetch state of a playlist. */
export async function fetchStateOf(sql: Sql, playlistId: number) {
  const [row] = await sql<
    { fetchedAtMs: number; fetchAtMs: number; failingSinceMs: number | null; problem: string }[]
  >`
    select fetched_at_ms as "fetchedAtMs", fetch_at_ms as "fetchAtMs", failing_since_ms as "failingSinceMs",
      fetch_problem as problem
    from playlists where id = ${playlistId}`
  if (!row) throw new Error('there is no such playlist')
  return row
}
