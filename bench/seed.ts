import { createHash } from 'node:crypto'

import type postgres from 'postgres'

/**
 * Fills an empty database with identical stations of one playlist each. Every station is in the middle of a song and
 * has three more in the queue. The ends of the songs are spread evenly over one song length from `dueInMs` after the
 * libraries are written; `delaysMs` delays them station by station. The history has `played` earlier songs. Returns
 * when the first song ends, in ms since 1970.
 */
export async function seedStations(
  sql: postgres.Sql,
  shape: {
    stations: number
    tracks: number
    songMs: number
    dueInMs: number
    delaysMs?: readonly number[]
    played?: number
  }
): Promise<number> {
  const { stations, tracks, songMs, dueInMs, delaysMs = [], played = 0 } = shape
  const songIds = Array.from({ length: tracks }, (_, track) =>
    createHash('md5').update(`artist${track}title${track}`).digest('hex')
  )
  const firstDueMs = await sql.begin(async tx => {
    await tx`insert into stations (name, short_name)
      select 'Bench ' || n, 'bench_' || n from generate_series(1, ${stations}::int) n`
    await tx`insert into hls_streams (station_id, name, is_default) select id, '/radio.mp3', true from stations`
    // The keys are the first 52 bits of a hash of the names in lower case.
    await tx`insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms, title_key, artist_keys)
      select s.id, left(md5(s.id || '-' || t.n), 24), 'bench:' || t.n, t.song_id, 'Artist ' || t.n, 'Title ' || t.n,
        ${songMs}::int, ('x' || left(md5('title ' || t.n), 13))::bit(52)::bigint,
        array[('x' || left(md5('artist ' || t.n), 13))::bit(52)::bigint]
      from stations s, unnest(${songIds}::text[]) with ordinality t(song_id, n)`
    await tx`insert into playlists (station_id, name) select id, 'Rotation' from stations`
    await tx`insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, m.id, row_number() over (partition by p.id order by m.id)
      from playlists p join media m on m.station_id = p.station_id`
    const dueMs = Date.now() + dueInMs
    await tx`
      with due as (
        select s.id, ${dueMs}::bigint + s.n * ${songMs}::bigint / ${stations}::int as ms, coalesce(d.ms, 0) as delay
        from (select id, row_number() over (order by id) as n from stations) s
        left join unnest(${[...delaysMs]}::bigint[]) with ordinality d(ms, n) on d.n = s.n)
      insert into song_history (station_id, media_id, playlist, song_id, artist, title, duration_ms, started_at_ms,
        due_at_ms, ended_at_ms)
      select m.station_id, m.id, 'Rotation', m.song_id, m.artist, m.title, m.duration_ms,
        least(due.ms - (n + 1) * ${songMs}::bigint, floor(extract(epoch from now()) * 1000)), case n when 0 then due.ms + due.delay end,
        case when n > 0 then due.ms - n * ${songMs}::bigint end
      from (select distinct on (station_id) * from media order by station_id, id) m
      join due on due.id = m.station_id
      cross join generate_series(${played}::int, 0, -1) n order by n desc, m.station_id`
    await tx`
      insert into queue (station_id, seq, position, playlist_id, track_id, media_id, pass, cued_at_ms, plays_at_ms,
        duration_ms)
      select h.station_id, t.position - 1, t.position - 1, t.playlist_id, t.id, t.media_id, 1,
        h.due_at_ms + (t.position - 3) * ${songMs}::bigint, h.due_at_ms + (t.position - 2) * ${songMs}::bigint,
        ${songMs}::int
      from song_history h
      join playlists p on p.station_id = h.station_id
      join playlist_tracks t on t.playlist_id = p.id and t.position between 2 and 4
      where h.ended_at_ms is null`
    await tx`update stations set next_seq = 4`
    return dueMs
  })
  // The versions of the libraries were set at the commit.
  await sql`update stations s set filled_version = l.version from libraries l where l.station_id = s.id`
  await sql`vacuum analyze`
  return firstDueMs
}
