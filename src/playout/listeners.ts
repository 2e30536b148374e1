import type { Tx } from '../db/sql.ts'
import { ApiError, type FieldError } from '../errors.ts'
import type { Count } from '../station/state.ts'
import { publishEventually } from './publish.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import { lockStation, readOpenPlay } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { tellHooks } from './tell-hooks.ts'

/** A source is named by its id or by its path (a mount's path, a remote's URL, an HLS stream's name). */
export type SourceCount = Count & ({ readonly id: number } | { readonly path: string })

/** What a streaming server reports. Lists hold the sources that were counted; the others keep their counts. */
export interface ListenerReport extends Count {
  readonly mounts: readonly SourceCount[]
  readonly remotes: readonly SourceCount[]
  readonly hls: readonly SourceCount[]
}

/** The sums of a play stop here instead of failing. */
const int4Most = 2_147_483_647

const sources = {
  mounts: {
    table: 'hls_streams',
    path: 'name',
    total: 'mount_listeners_total',
    unique: 'mount_listeners_unique'
  },
  remotes: { table: 'remotes', path: 'url', total: 'listeners_total', unique: 'listeners_unique' },
  hls: { table: 'hls_streams', path: 'name', total: 'hls_listeners_total', unique: 'hls_listeners_unique' }
} as const

/**
 * Records a report: the counts of the station and its sources, and the statistics of the play on air. A report that
 * changes nothing writes nothing. Throws 404 for an unknown station and 400 naming every source that is not one of
 * the station's, or is there twice; then nothing is recorded.
 */
export async function countListeners(
  services: PlayoutServices,
  stationId: number,
  report: ListenerReport
): Promise<void> {
  const told = await services.sql.begin(async tx => {
    const station = await lockStation(tx, stationId)
    if (!station) throw new ApiError('not-found')
    const counted = [
      await countSources(tx, stationId, 'mounts', report.mounts),
      await countSources(tx, stationId, 'remotes', report.remotes),
      await countSources(tx, stationId, 'hls', report.hls)
    ]
    const [problem, ...problems] = counted.flatMap(each => each.problems)
    if (problem) throw ApiError.ofFields([problem, ...problems])
    const { listenersTotal, listenersUnique } = station
    const isNewTotal = report.total !== listenersTotal || report.unique !== listenersUnique
    if (!isNewTotal && !counted.some(each => each.isChanged)) return null
    await Promise.all([
      tx`update stations set revision = revision + 1, listeners_revision = revision + 1,
        listeners_total = ${report.total}, listeners_unique = ${report.unique} where id = ${stationId}`,
      tx`update song_history set listeners_end = ${report.total},
        listeners_peak = greatest(listeners_peak, ${report.total}),
        unique_listeners = greatest(unique_listeners, ${report.unique}),
        delta_positive = least(delta_positive::bigint + ${Math.max(0, report.total - listenersTotal)}, ${int4Most}),
        delta_negative = least(delta_negative::bigint + ${Math.max(0, listenersTotal - report.total)}, ${int4Most})
        where station_id = ${stationId} and ended_at_ms is null`
    ])
    return raiseTriggers(tx, station, observedBefore(station, await readOpenPlay(tx, stationId)), Date.now())
  })
  if (told === null) return
  await publishEventually(services, stationId)
  await tellHooks(services, told)
}

async function countSources(
  tx: Tx,
  stationId: number,
  kind: keyof typeof sources,
  counts: readonly SourceCount[]
): Promise<{ isChanged: boolean; problems: FieldError[] }> {
  if (counts.length === 0) return { isChanged: false, problems: [] }
  const { table, path, total: totals, unique: uniques } = sources[kind]
  const known = await tx<({ id: number; path: string } & Count)[]>`
    select id, ${tx(path)} as path, ${tx(totals)} as total, ${tx(uniques)} as unique
    from ${tx(table)} where station_id = ${stationId}`
  const matched = counts.map(count => ({
    count,
    row: known.find(row => ('id' in count ? row.id === count.id : row.path === count.path))
  }))
  const problems = matched.flatMap(({ row, count }, index): FieldError[] => {
    const field = `${kind}.${index}.${'id' in count ? 'id' : 'path'}`
    if (!row) return [{ field, code: 'not_found', message: `${field} is none of the station's ${kind}.` }]
    const isFirst = matched.findIndex(other => other.row === row) === index
    return isFirst ? [] : [{ field, code: 'duplicate', message: `${field} is counted twice.` }]
  })
  const changed = matched.flatMap(({ row, count: { total, unique } }) =>
    row && (row.total !== total || row.unique !== unique) ? [{ id: row.id, total, unique }] : []
  )
  if (problems.length === 0 && changed.length > 0) await updateCounts(tx, kind, changed)
  return { isChanged: changed.length > 0, problems }
}

function updateCounts(tx: Tx, kind: keyof typeof sources, counts: readonly ({ id: number } & Count)[]) {
  const { table, total, unique } = sources[kind]
  return tx`update ${tx(table)} s set ${tx(total)} = x.total, ${tx(unique)} = x.uniq
    from unnest(${counts.map(each => each.id)}::bigint[], ${counts.map(each => each.total)}::int[],
      ${counts.map(each => each.unique)}::int[]) as x(id, total, uniq)
    where s.id = x.id`
}
