import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import { TooManyRequests } from '../../platform/runtime/errors.ts'
import { songFragment } from '../../stores/db/snapshots.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { getVisibleStation, toStationLookup } from '../auth/public-request.ts'
import { listRoute } from '../core/list-route.ts'
import { isAnsweredByIndex, containsTextFragment } from '../core/list.ts'
import type { RecordName } from '../core/record-names.ts'
import type { ApiOperation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openAddressTokenBuckets } from '../core/token-buckets.ts'

const sortKeys = ['artist', 'title', 'album', 'genre']

const lightLimits = openAddressTokenBuckets(10, 100)
/** Searches and whole lists; the burst allows a page to search while the user types. */
const heavyLimits = openAddressTokenBuckets(1, 30)

interface SongList {
  readonly path: string
  readonly operation: Pick<ApiOperation, 'id' | 'tag' | 'summary'>
  /** An element, which has a shared schema. */
  readonly element: RecordName
  /** Returns a condition on the media `m`, and a key that identifies it in the cache of counts. */
  readonly openFilter: (services: ApiServices, stationId: number) => Promise<SongFilter> | SongFilter
  readonly render: (id: number, song: unknown, stationId: number) => object
}

interface SongFilter {
  readonly condition: (sql: Sql) => Fragment
  readonly countKey: string
}

/** A searchable, paged list of songs for listeners, with a rate limit by address. */
export const publicSongListRoute = ({ path, operation, element, openFilter, render }: SongList) =>
  listRoute(path, 'public', {
    ...operation,
    responseRecord: element,
    record: schemaRef(element),
    sort: sortKeys,
    errors: [429],
    needsAddress: true,
    headers: { 'Cache-Control': 'no-store' },
    async open(query, request, services) {
      const { reads: sql, config } = services
      const { stationId, profile } = await getVisibleStation(toStationLookup(request), services)
      const wait = (isAnsweredByIndex(query) ? lightLimits : heavyLimits).take(request.address)
      if (wait > 0) throw new TooManyRequests(wait)
      const { condition, countKey } = await openFilter(services, stationId)
      const contains = containsTextFragment(sql, query.search)
      const matches = sql`and (m.artist || ' - ' || m.title ${contains} or m.album ${contains})`
      const found = sql`${condition(sql)} ${query.search === '' ? sql`` : matches}`
      const order =
        query.sort === null
          ? sql`m.artist, m.title`
          : sql`${sql(`m.${query.sort}`)} ${query.isDescending ? sql`desc` : sql``}`
      return {
        select: sql`select m.id, ${songFragment(sql)} as song from media m where ${found} order by ${order}, m.id`,
        matching: sql`select from media m where ${found}`,
        render: (rows: readonly { readonly id: number; readonly song: ShownSong }[]) =>
          rows.map(({ id, song }) =>
            render(id, renderSongObject(song, profile, 'rest', config.BASE_URL), stationId)
          ),
        ...(query.search === '' ? { countKey } : {})
      }
    }
  })
