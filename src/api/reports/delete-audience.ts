import { choiceField } from '../../model/fields/field.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { batchLimitFragment, removeInBatches } from '../../stores/db/batches.ts'
import { recordAudit } from '../core/audit.ts'
import { momentSchema, parseMoment, momentStartMsFragment } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { actionResultFields, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { actionResultSchema, boolean, int64 } from '../core/schemas.ts'

const options = openQueryFilters({
  all: choiceField(['true'], { about: 'Required without `start` and `end`: deletes all sessions.' })
})

/** Longer erasures are continued by the next request. */
const runMs = 5_000

export const deleteAudienceRoute = apiRoute(
  'DELETE',
  '/api/station/:station_id/reports/audience',
  'administer stations',
  {
    id: 'deleteAudience',
    tag: 'Listeners',
    summary: 'Delete the sessions of listeners that began in a period, or all',
    query: {
      start: momentSchema('The start. Default: the first session.'),
      end: momentSchema('The end; a day is included. Default: now.'),
      ...options.schemas
    },
    response: actionResultSchema({
      deleted: int64,
      is_complete: { ...boolean, description: 'Whether all are deleted. If not, repeat the request.' }
    }),
    async handle(request, { sql }) {
      const station = getRequestStation(request)
      const { all } = options.parse(request.query)
      const start = parseMoment(request.query, 'start')
      const end = parseMoment(request.query, 'end')
      if (start === null && end === null && all === undefined)
        refuseField('start', 'required', 'must be set, or `end`, or all=true to delete all sessions.')
      const isAfter = start
        ? sql`started_at_ms >= ${momentStartMsFragment(sql, station, start, 0)}`
        : sql`true`
      const isBefore = end ? sql`started_at_ms < ${momentStartMsFragment(sql, station, end, 1)}` : sql`true`
      const given = (name: string) => request.query.get(name)?.trim() ?? ''
      const isWhole = start === null && end === null
      const span = isWhole ? 'all' : `${given('start') || 'first'} to ${given('end') || 'now'}`
      await recordAudit(sql, request, { record: 'ListenerSession', id: span.slice(0, 100) })
      const untilMs = performance.now() + runMs
      let isInTime = true
      const { rows, isComplete } = await removeInBatches(async () => {
        isInTime = performance.now() < untilMs
        if (!isInTime) return { count: 0 }
        return sql`
          delete from listener_sessions where ctid = any(array(
            select ctid from listener_sessions
            where station_id between ${station.id} and ${station.id} and ${isAfter} and ${isBefore}
            order by station_id, started_at_ms ${batchLimitFragment(sql)}))`
      })
      const isDone = isComplete && isInTime
      const message = `Deleted sessions: ${rows}.${isDone ? '' : ' More remain.'}`
      return jsonReply({ ...actionResultFields(message), deleted: rows, is_complete: isDone })
    }
  }
)
