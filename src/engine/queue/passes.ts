import { countsInPass, type Library } from '../../model/autodj/library.ts'
import type { Tx } from '../../stores/db/sql.ts'

/** Begins a new pass of a playlist. Its queued rows are removed unless they were sent. */
export async function startNewPass(tx: Tx, playlistId: number): Promise<void> {
  await tx`
    update playlists p set pass = 1 + greatest(p.pass,
      (select coalesce(max(last_pass), 0) from playlist_tracks t where t.playlist_id = p.id),
      (select coalesce(max(pass), 0) from queue q
        where q.playlist_id = p.id and q.played_at_ms is null and q.skipped_at_ms is null))
    where p.id = ${playlistId}`
  await tx`
    delete from queue where playlist_id = ${playlistId} and played_at_ms is null and skipped_at_ms is null
      and not is_sent and not is_manual`
}

/**
 * A play of a later pass ends the passes before it. All but the last of these were complete when it was planned, also
 * if songs were added since; the last one ends once all tracks were played in it.
 */
export function endPass(
  tx: Tx,
  { playlists }: Library,
  { playlistId, pass }: { readonly playlistId: number | null; readonly pass: number }
) {
  const playlist = playlists.find(({ id }) => id === playlistId)
  if (!playlist || pass <= playlist.pass) return []
  const isDone = (lastPass: number, index: number) => lastPass >= pass - 1 || !countsInPass(playlist, index)
  const current = playlist.tracks.lastPass.every(isDone) ? pass : pass - 1
  if (current <= playlist.pass) return []
  return [tx`update playlists set pass = ${current} where id = ${playlist.id} and pass < ${current}`]
}
