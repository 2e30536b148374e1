import { definedFields, songOf } from '../../db/snapshots.ts'
import { choice } from '../../fields/field.ts'
import { changeStation } from '../../playout/change-station.ts'
import { cancelRequest, cancelRequests } from '../../playout/queue/requests.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { renderSong } from '../../station/now-playing.ts'
import type { Song } from '../../station/state.ts'
import { maySeeAddresses } from '../auth/access.ts'
import { recordAudit } from '../core/audit.ts'
import {
  likePattern,
  listParameters,
  listReply,
  listSchema,
  newestRows,
  parseListQuery,
  readList
} from '../core/list.ts'
import { filtersOf, parseId } from '../core/parse.ts'
import { actionResult, type ApiRoute, stationOf, type StationRow } from '../core/route.ts'

const filter = filtersOf({
  type: choice(['pending', 'history'], {
    about: 'Requests that are still to be played (pending, unless told otherwise), or all others.'
  })
})

interface RequestRow {
  id: number
  timestamp: number
  dueAt: number
  skipDelay: boolean
  state: string
  playedAt: number
  address: string
  mediaId: number
  song: Song
  customFields: { id: number; shortName: string }[]
}

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/reports/requests',
  access: 'view station reports',
  operation: {
    id: 'listRequests',
    tag: 'Requests',
    summary: 'What listeners requested, newest first',
    query: { ...listParameters([]), ...filter.schemas },
    answer: listSchema({ $ref: '#/components/schemas/SongRequest' })
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const station = stationOf(request)
    const query = parseListQuery(request.query, [])
    const { type = 'pending' } = filter.parse(request.query)
    const pattern = likePattern(query.search)
    const waits = sql`state in ('pending', 'queued')`
    // Those that wait are few. Others in the order of an index: see "walks an index of all stations" in
    // docs/gotchas.md.
    const newest =
      type === 'pending'
        ? sql`select * from requests where station_id = ${station.id} and ${waits} order by id desc ${newestRows(sql)}`
        : sql`
          select * from requests where station_id between ${station.id} and ${station.id} and not ${waits}
          order by station_id, id desc ${newestRows(sql)}`
    const found =
      query.search === ''
        ? sql`select * from (${newest}) r`
        : sql`
          select r.* from (${newest}) r join media m on m.id = r.media_id
          where m.artist || ' - ' || m.title ilike ${pattern} order by r.id desc`
    const isShown = maySeeAddresses(request.caller?.key ?? null, station.id)
    const rows = await readList<RequestRow>(request, services, query, {
      select: found,
      expand: page => sql`
        select r.id, r.submitted_at_ms / 1000 as timestamp, r.due_at_ms / 1000 as "dueAt",
          r.skip_delay as "skipDelay", r.state, r.address, r.media_id as "mediaId",
          case when r.state = 'aired' then r.ended_at_ms / 1000 else 0 end as "playedAt",
          ${songOf(sql)} as song, ${definedFields(sql)} as "customFields"
        from (${page}) r join media m on m.id = r.media_id order by r.id desc`,
      matching: found,
      render: requests =>
        requests.map(row => ({
          ...renderRequest(row, station, config.BASE_URL),
          ip: isShown ? row.address : ''
        }))
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

function renderRequest(row: RequestRow, station: StationRow, baseUrl: string) {
  return {
    id: row.id,
    timestamp: row.timestamp,
    due_at: row.dueAt,
    skip_delay: row.skipDelay,
    state: row.state,
    played_at: row.playedAt,
    media_id: row.mediaId,
    song: renderSong(row.song, { ...station, customFields: row.customFields }, 'rest', baseUrl)
  }
}

const cancel: ApiRoute = {
  method: 'DELETE',
  path: '/api/station/:station_id/reports/requests/:id',
  access: 'manage station broadcasting',
  operation: {
    id: 'cancelRequest',
    tag: 'Requests',
    summary: 'Cancel a request that was not played yet; it leaves the queue as well',
    answer: { $ref: '#/components/schemas/ActionResult' },
    errors: [409]
  },
  async handle(request, services) {
    const station = stationOf(request)
    const id = parseId(request.params['id'])
    await changeStation(services, station.id, async change => {
      await cancelRequest(change, id, engineTimeMs())
      await recordAudit(change.tx, request, { record: 'SongRequest', id })
    })
    return actionResult('Record deleted successfully.')
  }
}

const clear: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/reports/requests/clear',
  access: 'manage station broadcasting',
  operation: {
    id: 'clearRequests',
    tag: 'Requests',
    summary: 'Cancel all requests that were not played yet, but for what is on its way to the air',
    answer: { $ref: '#/components/schemas/ActionResult' }
  },
  async handle(request, services) {
    const station = stationOf(request)
    await changeStation(services, station.id, async change => {
      await cancelRequests(change, engineTimeMs())
      await recordAudit(change.tx, request, { record: 'SongRequest', id: '*' })
    })
    return actionResult('Changes saved successfully.')
  }
}

export const requestReportRoutes = [list, cancel, clear]
