import { cancelRequest, cancelRequests } from '../../engine/queue/requests.ts'
import { choiceField } from '../../model/fields/field.ts'
import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { customFieldDefinitionsFragment, songFragment } from '../../stores/db/snapshots.ts'
import { maySeeListenerAddresses } from '../auth/access.ts'
import { stationActionRoute } from '../core/actions.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment, newestRowsLimitFragment } from '../core/list.ts'
import { openQueryFilters, parsePathId } from '../core/parse.ts'
import { actionReply, getRequestStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import { readSongNames } from '../library/song-names.ts'

const path = '/api/station/:station_id/reports/requests'

const filter = openQueryFilters({
  type: choiceField(['pending', 'history'], {
    about: 'pending (the default): requests not played yet; history: all others.'
  })
})

interface RequestRow {
  readonly id: number
  readonly timestamp: number
  readonly due_at: number
  readonly skip_delay: boolean
  readonly state: string
  readonly played_at: number | null
  readonly media_id: number
  readonly song: ShownSong
  readonly ip: string
  readonly customFields: { id: number; shortName: string }[]
}

const list = listRoute(path, 'view station reports', {
  id: 'listRequests',
  tag: 'Requests',
  summary: 'The requests of listeners, newest first',
  filters: filter.schemas,
  responseRecord: 'SongRequest',
  record: schemaRef('SongRequest'),
  open(query, request, { reads: sql, config }) {
    const station = getRequestStation(request)
    const { type = 'pending' } = filter.parse(request.query)
    const contains = containsTextFragment(sql, query.search)
    const isPending = sql`state in ('pending', 'queued')`
    // Pending requests are few. Others are read in the order of an index: see "walks an index of all
    // stations" in docs/gotchas.md.
    const newest =
      type === 'pending'
        ? sql`select * from requests where station_id = ${station.id} and ${isPending} order by id desc ${newestRowsLimitFragment(sql)}`
        : sql`
          select * from requests where station_id between ${station.id} and ${station.id} and not ${isPending}
          order by station_id, id desc ${newestRowsLimitFragment(sql)}`
    const found =
      query.search === ''
        ? sql`select * from (${newest}) r`
        : sql`
          select r.* from (${newest}) r join media m on m.id = r.media_id
          where m.artist || ' - ' || m.title ${contains} order by r.id desc`
    const showsAddresses = maySeeListenerAddresses(request.caller?.key ?? null, station.id)
    return {
      select: found,
      expand: page => sql`
        select r.id, r.submitted_at_ms / 1000 as timestamp, r.due_at_ms / 1000 as due_at, r.skip_delay, r.state,
          case when r.state = 'aired' then r.ended_at_ms / 1000 else 0 end as played_at, r.media_id,
          ${songFragment(sql)} as song, r.address as ip, ${customFieldDefinitionsFragment(sql)} as "customFields"
        from (${page}) r join media m on m.id = r.media_id order by r.id desc`,
      matching: found,
      render: (requests: readonly RequestRow[]) =>
        requests.map(({ customFields, ...row }) => ({
          ...row,
          song: renderSongObject(row.song, { ...station, customFields }, 'rest', config.BASE_URL),
          ip: showsAddresses ? row.ip : ''
        }))
    }
  }
})

const cancel = stationActionRoute('DELETE', `${path}/:id`, 'manage station broadcasting', {
  id: 'cancelRequest',
  tag: 'Requests',
  summary: 'Cancel a request that was not played yet; the song leaves the queue',
  errors: [409],
  prepare(request) {
    const id = parsePathId(request.params['id'])
    return async change => {
      const { tx } = change
      const names = await readSongNames(tx, tx`select id, media_id from requests where id = ${id}`)
      await cancelRequest(change, id, engineTimeMs())
      return {
        audit: [{ record: 'SongRequest', id, name: names.get(id) }],
        reply: actionReply('Record deleted successfully.')
      }
    }
  }
})

const clear = stationActionRoute('POST', `${path}/clear`, 'manage station broadcasting', {
  id: 'clearRequests',
  tag: 'Requests',
  summary: 'Cancel all requests that were not played yet, except a song already sent to the playout',
  prepare: () => async change => {
    await cancelRequests(change, engineTimeMs())
    return {
      audit: [{ record: 'SongRequest', id: '*' }],
      reply: actionReply('Changes saved successfully.')
    }
  }
})

export const requestReportRoutes = [list, cancel, clear]
