import { artistKeys, titleKey } from '../songs/clash-keys.ts'
import type { Sql } from './sql.ts'

const atOnce = 1_000

/**
 * Gives clash keys to the media that have none: those that were there before the columns. Processes that start together
 * take turns, and what somebody writes meanwhile stays. Gives how many it did.
 */
export async function fillClashKeys(sql: Sql): Promise<number> {
  let filled = 0
  for (let found = atOnce; found === atOnce;) {
    found = await sql.begin(async tx => {
      await tx`select pg_advisory_xact_lock(hashtext('cuewire clash keys'))`
      const songs = await tx<{ id: number; artist: string; title: string }[]>`
        select id, artist, title from media where title_key is null or artist_keys is null
        order by id limit ${atOnce}`
      const keys = songs.map(({ id, artist, title }) => ({
        id,
        title: titleKey(title),
        artists: artistKeys(artist)
      }))
      const { count } = await tx`
        update media m set title_key = k.title, artist_keys = k.artists
        from jsonb_to_recordset(${tx.json(keys)}) as k (id bigint, title bigint, artists bigint[])
        where m.id = k.id and (m.title_key is null or m.artist_keys is null)`
      filled += count
      return songs.length
    })
  }
  return filled
}
