import type { Fragment, Tx } from '../../stores/db/sql.ts'

/**
 * Reads the titles of songs for the audit log, or their paths. `songs` selects an id of each, and that of its
 * media.
 */
export async function readSongNames(tx: Tx, songs: Fragment): Promise<ReadonlyMap<number, string>> {
  const rows = await tx<{ id: number; name: string }[]>`
    select s.id, case when m.title = '' then m.path else m.title end as name
    from (${songs}) s (id, media_id) join media m on m.id = s.media_id`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
