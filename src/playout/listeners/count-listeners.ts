import type { Sql, Tx } from '../../db/sql.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError, type FieldError } from '../../runtime/errors.ts'
import type { ListenerCount } from '../../station/state.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { updatePlayStatistics } from '../plays/play-statistics.ts'
import type { PlayoutServices } from '../services.ts'
import {
  movementOf,
  recordListeners,
  readConnected,
  readSalts,
  saltIdentities,
  type Salts
} from './identities.ts'
import { applyCounts, matchCounts, readCounts, type SourceReport, sumOf, updateCounts } from './sources.ts'

/** A broadcaster's report. `totals` null: the sums over the sources. */
export interface ListenerReport extends SourceReport {
  readonly totals: ListenerCount | null
}

/**
 * Records a broadcaster's report. A report without changes writes nothing. Throws 404 for an unknown station
 * and 400 that names every unknown or repeated source; then nothing is recorded.
 */
export async function recordCounts(services: PlayoutServices, stationId: number, report: ListenerReport) {
  if (!(await record(services, stationId, report, refuse))) throw new ApiError('not-found')
}

function refuse([problem, ...problems]: readonly FieldError[]): void {
  if (problem) throw ApiError.ofFields([problem, ...problems])
}

/**
 * Records the counts of some sources; the totals are the sums over all sources, hidden ones included. Unknown
 * sources and stations are ignored; of several counts of a source the first is used.
 */
export async function recordSourceCounts(services: PlayoutServices, stationId: number, report: SourceReport) {
  await record(services, stationId, { ...report, totals: null }, () => {})
}

/** Returns false for an unknown station. `judge` gets the sources that do not match, and may throw. */
async function record(
  services: PlayoutServices,
  stationId: number,
  report: ListenerReport,
  judge: (problems: readonly FieldError[]) => void
): Promise<boolean> {
  // Most reports change nothing; they do not wait for the station lock.
  const salts = await readSalts(services.sql, engineTimeMs())
  const known = await compare(services.sql, stationId, report, salts, judge)
  if (known === null) return false
  if (!known.isNews) return true
  try {
    await changeStation(services, stationId, change => recordChange(change, report, salts, judge))
    return true
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not-found') return false
    throw error
  }
}

/** Returns what a report changes; null for an unknown station. */
async function compare(
  sql: Sql | Tx,
  stationId: number,
  { totals, ...report }: ListenerReport,
  salts: Salts,
  judge: (problems: readonly FieldError[]) => void
) {
  const counts = await readCounts(sql, stationId)
  if (!counts) return null
  const { totals: was, sources: before } = counts
  const { matched, problems } = matchCounts(before, report)
  judge(problems)
  const connected = await readConnected(sql, stationId, matched)
  const movement = movementOf(connected, saltIdentities(matched, connected, salts))
  const { after, changed } = applyCounts(before, matched)
  const now = totals ?? sumOf(after)
  const isNewTotal = now.total !== was.total || now.unique !== was.unique
  const isShown = isNewTotal || changed.length > 0
  const isNews = isShown || movement.came.length > 0 || movement.left.length > 0
  return { was, now, before, after, changed, movement, isNewTotal, isShown, isNews }
}

async function recordChange(
  { tx, station, play, mark }: StationChange,
  report: ListenerReport,
  salts: Salts,
  judge: (problems: readonly FieldError[]) => void
): Promise<void> {
  const change = await compare(tx, station.id, report, salts, judge)
  if (!change?.isNews) return
  const nowMs = engineTimeMs()
  await updateCounts(tx, change.changed)
  await recordListeners(tx, station.id, change.movement, nowMs)
  if (play && (change.isShown || change.movement.came.length > 0))
    await updatePlayStatistics(tx, play, change)
  if (!change.isShown) return
  const { was, now } = change
  if (change.isNewTotal) await noteMinute(tx, station.id, was, now, nowMs)
  mark(['listeners'], { listeners_total: now.total, listeners_unique: now.unique })
}

/** Updates the minute series; the count before the change belongs to the most and fewest of the minute. */
async function noteMinute(
  tx: Tx,
  stationId: number,
  was: ListenerCount,
  now: ListenerCount,
  atMs: number
): Promise<void> {
  const most = Math.max(was.total, now.total)
  const fewest = Math.min(was.total, now.total)
  await tx`
    insert into listener_minutes as m (station_id, minute, total, "unique", most, fewest)
    values (${stationId}, ${Math.floor(atMs / 60_000)}, ${now.total}, ${now.unique}, ${most}, ${fewest})
    on conflict (station_id, minute) do update set total = excluded.total, "unique" = excluded."unique",
      most = greatest(m.most, excluded.most), fewest = least(m.fewest, excluded.fewest)`
}
