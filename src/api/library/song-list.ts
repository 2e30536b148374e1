import { songOf } from '../../db/snapshots.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import { TooManyRequests } from '../../runtime/errors.ts'
import type { Song } from '../../station/state.ts'
import { isLight, likePattern, listParameters, listReply, parseListQuery, readList } from '../core/list.ts'
import type { ApiRequest, Reply } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { openAddressBuckets } from '../core/token-buckets.ts'

const sortKeys = ['artist', 'title', 'album', 'genre']

export const songListParameters = listParameters(sortKeys)

const pages = openAddressBuckets(10, 100)
/** A page may search while one types, but nobody needs that or the whole list all the time. */
const heavyReads = openAddressBuckets(1, 30)

/** Which songs: the media `m` that meet a condition. `name` is unique to it. */
export interface SongChoice {
  readonly name: string
  readonly condition: (sql: Sql) => Fragment
}

export interface SongRow {
  readonly id: number
  readonly song: Song
}

/**
 * A list of songs for listeners, searchable and paged. `choose` is called once the address may ask. Throws
 * 429 where one address asks too often.
 */
export async function listSongs(
  request: ApiRequest,
  services: ApiServices,
  choose: () => Promise<SongChoice>,
  render: (row: SongRow) => object
): Promise<Reply> {
  const query = parseListQuery(request.query, sortKeys)
  const wait = (isLight(query) ? pages : heavyReads).take(request.address)
  if (wait > 0) throw new TooManyRequests(wait)
  const { name, condition } = await choose()
  const { reads: sql } = services
  const pattern = likePattern(query.search)
  // What is in the artist or the title is in both together.
  const searched = sql`and (m.artist || ' - ' || m.title ilike ${pattern} or m.album ilike ${pattern})`
  const found = sql`${condition(sql)} ${query.search === '' ? sql`` : searched}`
  const order =
    query.sort === null
      ? sql`m.artist, m.title`
      : sql`${sql(`m.${query.sort}`)} ${query.isDescending ? sql`desc` : sql``}`
  const list = await readList<SongRow>(request, services, query, {
    select: sql`select m.id, ${songOf(sql)} as song from media m where ${found} order by ${order}, m.id`,
    matching: sql`select from media m where ${found}`,
    render: rows => rows.map(render),
    ...(query.search === '' ? { countKey: name } : {})
  })
  const reply = listReply(list, query, request, services.config.BASE_URL)
  return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } }
}
