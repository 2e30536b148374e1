import { cleanLines, type ImportedSong } from '../../../model/songs/song.ts'
import type { Tx } from '../sql.ts'

/**
 * Stores the values of custom fields that are read from tags (`auto_assign`) of songs at these paths. Values that a
 * person set or cleared are kept, unless they are replaced. A tag that the file no longer has clears its value.
 */
export async function storeTagFieldValues(
  tx: Tx,
  stationId: number,
  songs: readonly ImportedSong[],
  { replacesCorrections }: { readonly replacesCorrections: boolean }
): Promise<void> {
  const fields = await tx<{ id: number; tag: string }[]>`
    select id, auto_assign as tag from custom_fields where auto_assign <> '' order by id`
  if (fields.length === 0) return
  const values = songs.flatMap(({ path, tags }) =>
    tags === null ? [] : fields.map(({ id, tag }) => ({ path, id, value: findTag(tags, tag.toLowerCase()) }))
  )
  if (values.length === 0) return
  const read = tx`
    select m.id as media_id, t.field_id, t.value
    from unnest(${values.map(({ path }) => path)}::text[], ${values.map(({ id }) => id)}::bigint[],
      ${values.map(({ value }) => value)}::text[]) as t (path, field_id, value)
    join media m on m.station_id = ${stationId} and m.path = t.path and m.remote_playlist_id is null`
  await tx`
    delete from media_custom_fields f using (${read}) t
    where f.media_id = t.media_id and f.field_id = t.field_id and t.value = '' and (f.is_from_tag or ${replacesCorrections})`
  await tx`
    insert into media_custom_fields as f (media_id, field_id, value, is_from_tag)
    select media_id, field_id, value, true from (${read}) t where t.value <> ''
    on conflict (media_id, field_id) do update set value = excluded.value, is_from_tag = true
    where (f.is_from_tag or ${replacesCorrections}) and (f.value, f.is_from_tag) is distinct from (excluded.value, true)`
}

/** Code points. The API takes values of twice as many UTF-16 units. */
const maxValueLength = 1_000

/**
 * The text of a tag, whose name, lower-cased as those of `tags`, may be written with spaces as well; empty if there is
 * none.
 */
const findTag = (tags: ReadonlyMap<string, string>, name: string) =>
  cleanLines(tags.get(name) ?? tags.get(name.replaceAll(' ', '_')) ?? '', maxValueLength)
