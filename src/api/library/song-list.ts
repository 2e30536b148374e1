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

const lightLimits = openAddressBuckets(10, 100)
/** Searches and whole lists; the burst allows a page to search while the user types. */
const heavyLimits = openAddressBuckets(1, 30)

/** A condition on the media `m`. */
interface SongFilter {
  readonly condition: (sql: Sql) => Fragment
  /** Identifies the condition in the cache of counts. */
  readonly countKey: string
}

interface SongRow {
  readonly id: number
  readonly song: Song
}

/**
 * Responds with a searchable, paged list of songs for listeners. Throws 429 before calling `openFilter` if the
 * address exceeds its limit.
 */
export async function listSongs(
  request: ApiRequest,
  services: ApiServices,
  openFilter: () => Promise<SongFilter>,
  render: (row: SongRow) => object
): Promise<Reply> {
  const query = parseListQuery(request.query, sortKeys)
  const wait = (isLight(query) ? lightLimits : heavyLimits).take(request.address)
  if (wait > 0) throw new TooManyRequests(wait)
  const { condition, countKey } = await openFilter()
  const { reads: sql } = services
  const pattern = likePattern(query.search)
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
    ...(query.search === '' ? { countKey } : {})
  })
  const reply = listReply(list, query, request, services.config.BASE_URL)
  return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } }
}
