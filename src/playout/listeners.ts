import type { Tx } from '../db/sql.ts'
import { ApiError, type FieldError } from '../errors.ts'
import type { Count } from '../station/state.ts'
import { noteMinute } from './listener-minutes.ts'
import { matchCounts, readSources, type SourceReport, sumOf, updateCounts } from './listener-sources.ts'
import { noteListeners } from './listeners-known.ts'
import { keepStatistics } from './play-statistics.ts'
import { publishEventually } from './publish.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import { lockStation, readOpenPlay } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { tellHooks } from './tell-hooks.ts'

/** What a broadcaster reports. `totals` null: the station's are the sums over its sources. */
export interface ListenerReport extends SourceReport {
  readonly totals: Count | null
}

/**
 * Records the report of a broadcaster: the counts of the station and its sources, and the statistics of the play on air.
 * A report that changes nothing writes nothing. Throws 404 for an unknown station and 400 naming every source that is
 * not one of the station's, or is there twice; then nothing is recorded.
 */
export async function countListeners(
  services: PlayoutServices,
  stationId: number,
  report: ListenerReport
): Promise<void> {
  if (!(await record(services, stationId, report, refuse))) throw new ApiError('not-found')
}

function refuse([problem, ...problems]: readonly FieldError[]): void {
  if (problem) throw ApiError.ofFields([problem, ...problems])
}

/**
 * Records what was counted at some of a station's sources, in the same way; the others keep their counts, and the totals
 * of the station are the sums over all its sources, invisible ones too. Sources that the station does not have are
 * passed over, as is a station that is gone; of counts of the same source the first holds.
 */
export async function countAtSources(
  services: PlayoutServices,
  stationId: number,
  report: SourceReport
): Promise<void> {
  await record(services, stationId, { ...report, totals: null }, () => {})
}

/** Gives false for an unknown station. `judge` sees the sources that do not fit, and may throw. */
async function record(
  services: PlayoutServices,
  stationId: number,
  report: ListenerReport,
  judge: (problems: readonly FieldError[]) => void
): Promise<boolean> {
  const told = await services.sql.begin(tx => recordIn(tx, stationId, report, judge))
  if (told === 'gone') return false
  if (told === 'unchanged') return true
  await publishEventually(services, stationId)
  await tellHooks(services, told)
  return true
}

/** Gives the web hooks to be told, where there is something to show. */
async function recordIn(
  tx: Tx,
  stationId: number,
  report: ListenerReport,
  judge: (problems: readonly FieldError[]) => void
): Promise<'gone' | 'unchanged' | number[]> {
  const [station, play, before] = await Promise.all([
    lockStation(tx, stationId),
    readOpenPlay(tx, stationId),
    readSources(tx, stationId)
  ])
  if (!station) return 'gone'
  const { matched, problems } = matchCounts(before, report)
  judge(problems)
  const nowMs = Date.now()
  const { after, changed } = await updateCounts(tx, before, matched)
  const haveCome = await noteListeners(tx, stationId, matched, nowMs)
  const was = { total: station.listenersTotal, unique: station.listenersUnique }
  const now = report.totals ?? sumOf(after)
  const isNewTotal = now.total !== was.total || now.unique !== was.unique
  const isShown = isNewTotal || changed.length > 0
  if (play && (isShown || haveCome)) await keepStatistics(tx, play, { was, now, before, after })
  if (!isShown) return 'unchanged'
  if (isNewTotal) await noteMinute(tx, stationId, was, now, nowMs)
  await tx`update stations set revision = revision + 1, listeners_revision = revision + 1,
    listeners_total = ${now.total}, listeners_unique = ${now.unique} where id = ${stationId}`
  return raiseTriggers(tx, station, observedBefore(station, play), nowMs)
}
