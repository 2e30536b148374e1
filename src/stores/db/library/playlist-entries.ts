import type { Tx } from '../sql.ts'

/*
 * The entries of playlists. A song may be in a playlist several times. In the table `playlist_tracks` its first entry
 * has it in `media_id`, the others have it in `repeated_media_id`, and the view `playlist_entries` shows all alike. So
 * whether a song is in a playlist is read from `media_id`, and what is removed by `media_id` is removed with all its
 * entries.
 */

/** A song of a list, and the how manieth one it is in the list, from 1. */
export interface ListedEntry {
  readonly mediaId: number
  readonly occurrence: number
}

/** Counts how often each song of a list has occurred so far. */
export function countOccurrences(ids: readonly number[]): ListedEntry[] {
  const counts = new Map<number, number>()
  return ids.map(mediaId => {
    const occurrence = (counts.get(mediaId) ?? 0) + 1
    counts.set(mediaId, occurrence)
    return { mediaId, occurrence }
  })
}

/**
 * Appends the entries of a list that a playlist lacks, in this order: it then has each song at least as often as the
 * list, so the same list again changes nothing. Entries that are in it keep their place; those of a folder will remain
 * without it.
 */
export async function appendMissingEntries(
  tx: Tx,
  playlistId: number,
  entries: readonly ListedEntry[]
): Promise<void> {
  const ids = entries.map(({ mediaId }) => mediaId)
  const repeated = entries.filter(({ occurrence }) => occurrence > 1).map(({ mediaId }) => mediaId)
  // Repeats need the first entry of their song, so nobody may remove it until the end of the transaction.
  if (repeated.length > 0)
    await tx`
      select from playlist_tracks where playlist_id = ${playlistId} and media_id = any(${repeated}::bigint[]) for key share`
  // Grouped, not joined: Postgres knows nothing of rows that were just written, and might compare each with each.
  await tx`
    with kept as (
      update playlist_tracks set is_from_folder = false
      where playlist_id = ${playlistId} and media_id = any(${ids}::bigint[]) and is_from_folder
    ), listed as (
      select media_id, occurrence, min(place) as place
      from unnest(${ids}::bigint[], ${entries.map(({ occurrence }) => occurrence)}::integer[])
        with ordinality as x (media_id, occurrence, place)
      group by media_id, occurrence
    ), compared as (
      select *, count(*) filter (where place is null) over (partition by media_id) as present
      from (
        select media_id, occurrence, place from listed
        union all select media_id, null, null from playlist_tracks
          where playlist_id = ${playlistId} and media_id = any(${ids}::bigint[])
        union all select repeated_media_id, null, null from playlist_tracks
          where playlist_id = ${playlistId} and repeated_media_id = any(${ids}::bigint[])
      ) x
    )
    insert into playlist_tracks (playlist_id, media_id, repeated_media_id, position)
    select ${playlistId}::bigint, case when is_first then media_id end, case when not is_first then media_id end,
      last.position + row_number() over (order by place)
    from (
      select *, present = 0 and row_number() over (partition by media_id order by place) = 1 as is_first
      from compared where occurrence > present
    ) x, (
      select coalesce(max(position), 0) as position from playlist_tracks where playlist_id = ${playlistId}
    ) as last
    on conflict do nothing`
}

/** Appends one more entry of a song to a playlist. Returns its id. */
export async function appendRepeatedSong(tx: Tx, playlistId: number, mediaId: number): Promise<number> {
  const [entry] = await tx<{ id: number }[]>`
    with kept as (
      update playlist_tracks set is_from_folder = false
      where playlist_id = ${playlistId} and media_id = ${mediaId} and is_from_folder
    )
    insert into playlist_tracks (playlist_id, media_id, repeated_media_id, position)
    select ${playlistId}::bigint, case when not known then ${mediaId}::bigint end, case when known then ${mediaId}::bigint end,
      (select coalesce(max(position), 0) + 1 from playlist_tracks where playlist_id = ${playlistId})
    from (
      select exists (select from playlist_tracks where playlist_id = ${playlistId} and media_id = ${mediaId}) as known
    ) x
    returning id`
  if (!entry) throw new Error('insert returned no row')
  return entry.id
}

/** Removes one entry. Another entry of the song becomes its first one, so that the others remain. */
export async function removePlaylistEntry(tx: Tx, entryId: number): Promise<void> {
  const [next] = await tx<{ id: number }[]>`
    select r.id from playlist_tracks t
      join playlist_tracks r on r.playlist_id = t.playlist_id and r.repeated_media_id = t.media_id
    where t.id = ${entryId} order by r.position, r.id limit 1`
  if (next) {
    const { id } = next
    // A shuffled list plays a song once per pass: its next first entry has been heard as well.
    await tx`
      update playlist_tracks r set last_pass = greatest(r.last_pass, t.last_pass),
        last_aired_ms = greatest(r.last_aired_ms, t.last_aired_ms)
      from playlist_tracks t join playlists p on p.id = t.playlist_id
      where r.id = ${id} and t.id = ${entryId} and p."order" <> 'sequential'`
    // In this order, because the index of first entries is unique.
    await tx`update playlist_tracks set media_id = null, repeated_media_id = media_id where id = ${entryId}`
    await tx`update playlist_tracks set media_id = repeated_media_id, repeated_media_id = null where id = ${id}`
  }
  await tx`delete from playlist_tracks where id = ${entryId}`
}

/** Orders the entries of a playlist. `ids` are all of them. */
export async function orderPlaylistEntries(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`
    update playlist_tracks t set position = x.position
    from unnest(${[...ids]}::bigint[]) with ordinality as x (id, position)
    where x.id = t.id and t.position <> x.position`
}
