import type { Sql, Tx } from '../../db/sql.ts'
import type { FieldError } from '../../runtime/errors.ts'
import type { ListenerCount } from '../../station/state.ts'

/** Kinds of sources: a mount, a remote, an HLS stream. */
export type ListenerSourceKind = 'mounts' | 'remotes' | 'hls'

/** The count of a source, named by id or path. `identities`: a hash for each listener, if known. */
export type SourceCount = ListenerCount &
  ({ readonly id: number } | { readonly path: string }) & { readonly identities?: readonly string[] }

/** The counted sources. */
export type SourceReport = { readonly [Kind in ListenerSourceKind]: readonly SourceCount[] }

/** A source with its stored count. `key` is unique among the sources of the station: `mount:7`. */
export interface ListenerSource extends ListenerCount {
  readonly kind: ListenerSourceKind
  readonly id: number
  readonly path: string
  readonly key: string
}

/** A source with its reported count. */
export interface ReportedSource {
  readonly source: ListenerSource
  readonly count: SourceCount
}

/** Sums are limited to this, so that they fit their column. */
export const maxInt32 = 2_147_483_647

const kinds = ['mounts', 'remotes', 'hls'] as const

const columns = {
  mounts: { table: 'hls_streams', key: 'mount:', path: 'name', count: 'mount_listeners' },
  remotes: { table: 'remotes', key: 'remote:', path: 'url', count: 'listeners' },
  hls: { table: 'hls_streams', key: 'hls:', path: 'name', count: 'hls_listeners' }
} as const

/** The listener counts of a station. */
export interface StationCounts {
  readonly totals: ListenerCount
  /** All sources, hidden ones too. A stream counts as two: its mount and its HLS listeners. */
  readonly sources: readonly ListenerSource[]
}

/** Null for an unknown station. */
export async function readCounts(sql: Sql | Tx, stationId: number): Promise<StationCounts | null> {
  const rowsOf = (kind: ListenerSourceKind) => {
    const { table, key, path, count } = columns[kind]
    return sql`
      select ${kind}::text as kind, id, ${sql(path)} as path, ${key}::text || id as key, ${sql(`${count}_total`)} as total,
        ${sql(`${count}_unique`)} as unique
      from ${sql(table)} where station_id = ${stationId}`
  }
  const [station] = await sql<[StationCounts?]>`
    select jsonb_build_object('total', listeners_total, 'unique', listeners_unique) as totals,
      coalesce((
        select jsonb_agg(x order by x.kind, x.id)
        from (${rowsOf('mounts')} union all ${rowsOf('remotes')} union all ${rowsOf('hls')}) x), '[]') as sources
    from stations where id = ${stationId}`
  return station ?? null
}

/** Matches a report with the sources of the station; unknown and repeated ones are problems. */
export function matchCounts(sources: readonly ListenerSource[], report: SourceReport) {
  const matched = new Map<string, ReportedSource>()
  const problems: FieldError[] = []
  for (const kind of kinds) {
    const ofKind = sources.filter(source => source.kind === kind)
    const byId = new Map(ofKind.map(source => [source.id, source]))
    const byPath = new Map(ofKind.map(source => [source.path, source]))
    for (const [index, count] of report[kind].entries()) {
      const source = 'id' in count ? byId.get(count.id) : byPath.get(count.path)
      const field = `${kind}.${index}.${'id' in count ? 'id' : 'path'}`
      if (!source)
        problems.push({ field, code: 'not_found', message: `${field} is none of the station's ${kind}.` })
      else if (matched.has(source.key))
        problems.push({ field, code: 'duplicate', message: `${field} is counted twice.` })
      else matched.set(source.key, { source, count })
    }
  }
  return { matched: [...matched.values()], problems }
}

/** All sources with the new counts, and those that changed. */
export function applyCounts(sources: readonly ListenerSource[], matched: readonly ReportedSource[]) {
  const counts = new Map(matched.map(({ source, count }) => [source.key, count]))
  const after = sources.map(source => {
    const { total, unique } = counts.get(source.key) ?? source
    return source.total === total && source.unique === unique ? source : { ...source, total, unique }
  })
  return { after, changed: after.filter((source, index) => source !== sources[index]) }
}

/** Writes the counts of changed sources. */
export async function updateCounts(tx: Tx, changed: readonly ListenerSource[]): Promise<void> {
  for (const kind of kinds) {
    const ofKind = changed.filter(source => source.kind === kind)
    if (ofKind.length === 0) continue
    const { table, count } = columns[kind]
    await tx`update ${tx(table)} s set ${tx(`${count}_total`)} = x.total, ${tx(`${count}_unique`)} = x.uniq
      from unnest(${ofKind.map(each => each.id)}::bigint[], ${ofKind.map(each => each.total)}::int[],
        ${ofKind.map(each => each.unique)}::int[]) as x(id, total, uniq)
      where s.id = x.id`
  }
}

/** The count of a station: the sum over its sources. */
export function sumOf(sources: readonly ListenerCount[]): ListenerCount {
  const sum = (part: keyof ListenerCount) =>
    Math.min(
      maxInt32,
      sources.reduce((sofar, source) => sofar + source[part], 0)
    )
  return { total: sum('total'), unique: sum('unique') }
}
