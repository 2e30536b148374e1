import type { Playlist } from '../autodj/library.ts'
import type { Tx } from './sql.ts'

/**
 * The playlists the AutoDJ may choose from, with their hands: enough tracks to fill an empty queue and to pass over
 * every song that is ahead. The order of a shuffle is a hash of track and pass, so reshuffling writes nothing.
 */
export function readLibrary(tx: Tx, stationId: number): Promise<Playlist[]> {
  return tx<Playlist[]>`
    select p.id, p.name, p.weight, p.is_jingle as "isJingle", jsonb_agg(
      jsonb_build_object('trackId', t.id, 'mediaId', t.media_id, 'pass', t.pass, 'songId', m.song_id,
        'durationMs', m.duration_ms)
      order by t.pass, t.place) as hand
    from playlists p join stations s on s.id = p.station_id
    cross join lateral (values (p.pass), (p.pass + 1)) as run(pass)
    cross join lateral (
      select t.id, t.media_id, run.pass, hashint8extended(t.id, (s.random_seed * 1000003::bigint) + run.pass) as place
      from playlist_tracks t
      where t.playlist_id = p.id and t.last_pass < run.pass and not exists (
        select from queue q where q.station_id = p.station_id and q.played_at_ms is null
          and q.skipped_at_ms is null and q.track_id = t.id and q.pass >= run.pass)
      order by place limit (select 2 * queue_length + 4 from stations where id = ${stationId})
    ) t
    join media m on m.id = t.media_id
    where p.station_id = ${stationId} and p.is_enabled and p.type = 'default' and p.source = 'songs'
    group by p.id order by p.id`
}
