import type postgres from 'postgres'

/**
 * Fills an empty database with disabled stations with empty queues. Each has `playlists` playlists of
 * `tracks` songs of `trackMs`, `played` past plays, and a current song that ends at `dueMs`.
 * Media rows are ordered by station, as after one import per station.
 */
export async function seedLibraries(
  sql: postgres.Sql,
  shape: {
    stations: number
    playlists: number
    tracks: number
    played: number
    songMs: number
    dueMs: number
    trackMs?: number
  }
): Promise<void> {
  const { stations, playlists, tracks, played, songMs, dueMs, trackMs = 180_000 } = shape
  await sql.begin(async tx => {
    // Without triggers and checks of foreign keys, which take most of the time with millions of rows.
    await tx`set local session_replication_role = replica`
    await tx`insert into stations (name, short_name, is_enabled)
      select 'Bench ' || n, 'bench_' || n, false from generate_series(1, ${stations}::int) n`
    // The keys are the first 52 bits of a hash, as in the program; 300 artists.
    await tx`insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms, title_key, artist_keys)
      select s.id, left(md5(s.id || '-' || n), 24), 'bench:' || n, md5('song' || n), 'Artist ' || n % 300, 'Title ' || n,
        ${trackMs}::int, ('x' || left(md5('title ' || n), 13))::bit(52)::bigint,
        array[('x' || left(md5('artist ' || n % 300), 13))::bit(52)::bigint]
      from stations s, generate_series(1, ${playlists * tracks}::int) n order by s.id, n`
    await tx`insert into playlists (station_id, name)
      select s.id, 'Rotation ' || n from stations s, generate_series(1, ${playlists}::int) n`
    await tx`insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, m.id, (m.place - 1) / ${playlists}::int + 1
      from (select id, station_id, row_number() over (partition by station_id order by id) as place from playlists) p
      join (select id, station_id, row_number() over (partition by station_id order by id) as place from media) m
        on m.station_id = p.station_id and m.place % ${playlists}::int = p.place - 1
      order by p.id, m.id`
    await tx`
      insert into song_history (station_id, media_id, playlist, song_id, artist, title, duration_ms, started_at_ms,
        due_at_ms, ended_at_ms, title_key, artist_keys)
      select m.station_id, m.id, 'Rotation', m.song_id, m.artist, m.title, ${songMs}::int,
        ${dueMs}::bigint - ${songMs}::bigint - n * 180000::bigint, case n when 0 then ${dueMs}::bigint end,
        case when n > 0 then ${dueMs}::bigint - ${songMs}::bigint - (n - 1) * 180000::bigint end, m.title_key, m.artist_keys
      from generate_series(${played}::int, 0, -1) n
      join media m on m.path = 'bench:' || (n + 1)
      order by n desc, m.station_id`
    await tx`insert into libraries (station_id) select id from stations`
  })
  await sql`vacuum analyze`
}
