import type { ListenerCount } from '../../model/station/state.ts'
import { listenerReportsMetric } from '../../platform/metrics/engine.ts'
import { ApiError, assertNoFieldErrors, type FieldError } from '../../platform/runtime/errors.ts'
import {
  type CountsReport,
  applyCountsReport,
  type CountsReportOutcome
} from '../../stores/redis/listener-store.ts'
import { publishStation } from '../repair-states.ts'
import type { EngineServices } from '../services.ts'
import { flushCountsInBackground } from './flush-counts.ts'
import {
  computeIdentityChanges,
  type SourceCountWithKind,
  invalidateIdentityCache,
  type SourceCount
} from './identities.ts'
import type { ListenerSessionReport } from './sessions.ts'

/** The lists of sources in a report, with the kind of their sources. */
const kindByList = { mounts: 'mount', remotes: 'remote', hls: 'hls' } as const

type SourceList = keyof typeof kindByList

/** The counted sources. */
export type SourceReport = { readonly [List in SourceList]: readonly SourceCount[] }

/** A broadcaster's report. `totals` null: the sums over the sources. */
export interface ListenerReport extends SourceReport {
  readonly totals: ListenerCount | null
}

/**
 * Records a broadcaster's report in Redis and publishes it; the workers flush it to Postgres. A report
 * without changes writes nothing. Throws 404 for an unknown station and 400 that names every unknown or
 * repeated source; then nothing is recorded.
 */
export async function recordListenerReport(
  services: EngineServices,
  stationId: number,
  report: ListenerReport
) {
  const refused = await tryRecordListenerReport(services, stationId, report)
  if (refused === null) throw new ApiError('not-found')
  assertNoFieldErrors(refused)
}

/**
 * Does what `recordListenerReport` does, but returns its errors: one for each unknown or repeated source, none if the
 * report was recorded; null for an unknown station.
 */
export async function tryRecordListenerReport(
  services: EngineServices,
  stationId: number,
  report: ListenerReport
) {
  const outcome = await record(services, stationId, report, { ignoresUnknown: false })
  if (outcome.status === 'missing') return null
  return outcome.status === 'refused' ? fieldErrors(report, outcome.problems) : []
}

/**
 * Records the counts of some sources; the totals are the sums over all sources, hidden ones included. Unknown
 * sources and stations are ignored; of several counts of a source the first is used. With `sessions`, the sessions of
 * the connections are recorded as well.
 */
export async function recordSourceCounts(
  services: EngineServices,
  stationId: number,
  report: SourceReport,
  sessions: ListenerSessionReport | null = null
) {
  await record(services, stationId, { ...report, totals: null }, { ignoresUnknown: true, sessions })
}

const attempts = 5

async function record(
  services: EngineServices,
  stationId: number,
  report: ListenerReport,
  {
    ignoresUnknown,
    sessions = null
  }: { readonly ignoresUnknown: boolean; readonly sessions?: ListenerSessionReport | null }
): Promise<CountsReportOutcome> {
  let outcome: CountsReportOutcome = { status: 'missing' }
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const listed = listCounts(report)
    const counts = await computeIdentityChanges(services, stationId, listed, {
      isOutdated: attempt > 1,
      sessions
    })
    const sent: CountsReport = { totals: report.totals, counts, ignoresUnknown }
    try {
      outcome = await applyCountsReport(services.redis, stationId, sent)
    } catch (error) {
      invalidateIdentityCache(services, stationId, listed)
      throw error
    }
    listenerReportsMetric[outcome.status]++
    if (outcome.status === 'counted' && outcome.hasEvents) flushCountsInBackground(services, stationId)
    // Redis has lost the state, or the station does not exist.
    const isRebuilt = outcome.status === 'missing' && (await publishStation(services, stationId)) !== null
    if (outcome.status !== 'outdated' && !isRebuilt) return outcome
  }
  return outcome
}

const lists: readonly SourceList[] = ['mounts', 'remotes', 'hls']

function listCounts(report: SourceReport): SourceCountWithKind[] {
  return lists.flatMap(list => report[list].map(count => ({ ...count, kind: kindByList[list] })))
}

/** The errors of a report, by the fields that name the unknown and repeated sources. */
function fieldErrors(
  report: SourceReport,
  problems: readonly { index: number; code: 'not_found' | 'duplicate' }[]
): FieldError[] {
  const places = lists.flatMap(list =>
    report[list].map((count, index) => ({ list, field: `${list}.${index}.${'id' in count ? 'id' : 'path'}` }))
  )
  return problems.flatMap(({ index, code }) => {
    const place = places[index]
    if (!place) return []
    const { list, field } = place
    const message =
      code === 'duplicate' ? `${field} is counted twice.` : `${field} is not one of the station's ${list}.`
    return [{ field, code, message }]
  })
}
