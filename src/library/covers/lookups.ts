import { generateUniqueId } from '../../model/songs/song.ts'
import { type Cover, storeCovers } from '../../stores/db/library/media-rows.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'

/** A song on air whose lookup is due. Title and artists are also the keys of `src/model/songs/duplicate-keys.ts`. */
export interface SongToLookUp {
  readonly titleKey: number
  readonly artistKeys: readonly number[]
  readonly artist: string
  readonly title: string
  /** Failed lookups in a row. */
  readonly failures: number
}

/** A song that has ended is still looked up within this time after its start. */
const recentMs = 5 * 60_000
/** In code points. Longer texts are hardly those of a song. */
const maxTextLength = 200

/** The visible plays on air or started recently, without a cover of their media. */
const recentPlays = (sql: Sql | Tx, nowMs: number): Fragment => sql`
  select h.* from (
    select * from song_history where ended_at_ms is null
    union all
    select * from song_history where started_at_ms > ${nowMs - recentMs} and ended_at_ms is not null
  ) h left join media m on m.id = h.media_id
  where h.is_visible and m.artwork_hash is null`

/**
 * Finds the next song to look up: on air before ended, new before repeated, then the last one that started.
 * Songs without artist or title, and the text that a station shows for a streamer without titles, are left
 * out.
 */
export async function findSongToLookUp(sql: Sql, nowMs: number): Promise<SongToLookUp | undefined> {
  const [song] = await sql<SongToLookUp[]>`
    select h.title_key as "titleKey", h.artist_keys as "artistKeys", h.artist, h.title,
      coalesce(c.failures, 0) as failures
    from (${recentPlays(sql, nowMs)}) h
      join stations s on s.id = h.station_id
      left join cover_lookups c on c.title_key = h.title_key and c.artist_keys = h.artist_keys
    where h.title_key <> 0 and h.artist_keys <> '{}' and (c.title_key is null or c.due_at_ms <= ${nowMs})
      and length(h.artist) <= ${maxTextLength} and length(h.title) <= ${maxTextLength}
      and h.title <> s.live_text and s.deleted_at is null
    order by h.ended_at_ms is not null, c.title_key is not null, h.started_at_ms desc limit 1`
  return song
}

/** Stores what a lookup found. Returns whether the cover of the song changed. */
export function storeLookupResult(sql: Sql, song: SongToLookUp, cover: Cover | null, dueAtMs: number) {
  return sql.begin(async tx => {
    if (cover) await storeCovers(tx, [cover])
    const [before] = await tx<{ hash: string | null }[]>`
      select artwork_hash as hash from cover_lookups where ${isOfSong(tx, song)} for update`
    const hash = cover?.hash ?? null
    await tx`
      insert into cover_lookups ${tx({ ...newRow(song), artwork_hash: hash, due_at_ms: dueAtMs, failures: 0 })}
      on conflict (title_key, artist_keys) do update set
        artwork_hash = excluded.artwork_hash, due_at_ms = excluded.due_at_ms, failures = 0`
    return (before?.hash ?? null) !== hash
  })
}

/** Stores that a lookup failed. A cover that was found before stays. */
export async function storeLookupFailure(
  sql: Sql,
  song: SongToLookUp,
  { dueAtMs, failures }: { readonly dueAtMs: number; readonly failures: number }
): Promise<void> {
  await sql`
    insert into cover_lookups ${sql({ ...newRow(song), due_at_ms: dueAtMs, failures })}
    on conflict (title_key, artist_keys) do update set
      due_at_ms = excluded.due_at_ms, failures = excluded.failures`
}

const newRow = ({ titleKey, artistKeys }: SongToLookUp) => ({
  title_key: titleKey,
  artist_keys: [...artistKeys],
  unique_id: generateUniqueId()
})

/** The others show the cover with their next change. */
const stationsAtMost = 500

/** The stations that play the song, or have played it recently. */
export async function findStationsPlaying(sql: Sql, song: SongToLookUp, nowMs: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct h.station_id as id from (${recentPlays(sql, nowMs)}) h
    where ${isOfSong(sql, song)} limit ${stationsAtMost}`
  return rows.map(({ id }) => id)
}

/** Whether a station shows the song as current, in its history, or as the next one. */
export async function findPartsShowing(tx: Tx, stationId: number, song: SongToLookUp) {
  const [shown] = await tx<{ isPlayed: boolean; isNext: boolean }[]>`
    select
      exists (
        select from (
          select title_key, artist_keys from song_history
          where station_id between ${stationId} and ${stationId} and is_visible
          order by station_id desc, started_at_ms desc, id desc
          limit (select history_length + 1 from stations where id = ${stationId})
        ) h where ${isOfSong(tx, song)}) as "isPlayed",
      exists (
        select from (
          select media_id from queue
          where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null and is_visible
          order by is_sent desc, position limit 1
        ) q join media m on m.id = q.media_id where ${isOfSong(tx, song)}) as "isNext"`
  return shown ?? { isPlayed: false, isNext: false }
}

/** The rows with the keys of a song. */
const isOfSong = (sql: Sql | Tx, { titleKey, artistKeys }: SongToLookUp): Fragment =>
  sql`title_key = ${titleKey} and artist_keys = ${[...artistKeys]}::bigint[]`
