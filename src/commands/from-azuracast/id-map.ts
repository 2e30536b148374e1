import type { Sql, Tx } from '../../stores/db/sql.ts'

/** Kinds of records whose ids others refer to, and their tables. */
const tables = {
  storage: 'storage_locations',
  station: 'stations',
  user: 'users',
  role: 'roles',
  'custom field': 'custom_fields',
  media: 'media',
  playlist: 'playlists',
  mount: 'hls_streams',
  'hls stream': 'hls_streams',
  relay: 'relays',
  remote: 'remotes',
  streamer: 'streamers',
  'sftp user': 'sftp_users',
  webhook: 'webhooks',
  request: 'requests',
  queue: 'queue',
  broadcast: 'broadcasts',
  track: 'playlist_tracks',
  play: 'song_history'
} as const

export type RecordKind = keyof typeof tables

export const tableOfKind = (kind: RecordKind): string => tables[kind]

/** A record of AzuraCast; `stationId` is 0 except for songs that several stations share. */
interface SourceId {
  readonly id: number
  readonly stationId?: number
}

/**
 * Knows the ids of records of an installation of AzuraCast. A record keeps its id unless it is taken. Only records that
 * were announced with `add` are found.
 */
export async function openIdMap(sql: Sql, installation: string) {
  const renumbered = new Map<string, number>()
  const known = new Map<RecordKind, Set<number>>()
  for (const row of await sql<{ kind: string; stationId: number; sourceId: number; id: number }[]>`
    select kind, station_id as "stationId", source_id as "sourceId", id from azuracast_ids
    where installation = ${installation}`)
    renumbered.set(keyOf(row.kind, row.sourceId, row.stationId), row.id)

  return {
    /** Marks a record of AzuraCast as one that is here or will be. */
    add(kind: RecordKind, sourceId: number): void {
      const ids = known.get(kind) ?? new Set()
      known.set(kind, ids.add(sourceId))
    },
    /** The id here; null for a record that is not taken. */
    find(kind: RecordKind, sourceId: number, stationId = 0): number | null {
      if (sourceId === 0 || !known.get(kind)?.has(sourceId)) return null
      return (
        renumbered.get(keyOf(kind, sourceId, stationId)) ??
        renumbered.get(keyOf(kind, sourceId, 0)) ??
        sourceId
      )
    },
    /** Whether an earlier run took a station. */
    wasTaken: (stationId: number): boolean => renumbered.has(keyOf('station', stationId, 0)),
    /** Records that a record is the one with this id, which exists already. */
    async equate(tx: Tx, kind: RecordKind, sourceId: number, id: number): Promise<void> {
      await remember(tx, kind, [{ source: { id: sourceId }, id }])
    },
    /**
     * Chooses the ids of new records, in the order of `sources`: their own unless another record has it. A copy
     * for a further station always gets a new one.
     */
    async assign(tx: Tx, kind: RecordKind, sources: readonly SourceId[]): Promise<number[]> {
      const table = tables[kind]
      const rows = await tx<{ id: number }[]>`
        select case when x.station_id <> 0 or t.id is not null then nextval(pg_get_serial_sequence(${table}, 'id')) else x.id end as id
        from unnest(${sources.map(({ id }) => id)}::bigint[], ${sources.map(({ stationId = 0 }) => stationId)}::bigint[])
          with ordinality as x (id, station_id, place)
        -- With a limit each is looked up; otherwise Postgres may read the whole table.
        left join lateral (select id from ${tx(table)} where id = x.id limit 1) t on true
        order by x.place`
      const assigned = rows.map(({ id }, index) => ({ source: sources[index] ?? { id: 0 }, id }))
      await remember(
        tx,
        kind,
        // Which stations were taken is known from here; all other records follow from their station.
        assigned.filter(({ source, id }) => source.id !== id || kind === 'station')
      )
      return rows.map(({ id }) => id)
    }
  }

  async function remember(
    tx: Tx,
    kind: RecordKind,
    changed: readonly { readonly source: SourceId; readonly id: number }[]
  ): Promise<void> {
    if (changed.length === 0) return
    await tx`
      insert into azuracast_ids ${tx(
        changed.map(({ source, id }) => ({
          installation,
          kind,
          station_id: source.stationId ?? 0,
          source_id: source.id,
          id
        }))
      )} on conflict do nothing`
    for (const { source, id } of changed) renumbered.set(keyOf(kind, source.id, source.stationId ?? 0), id)
  }
}

export type IdMap = Awaited<ReturnType<typeof openIdMap>>

const keyOf = (kind: string, sourceId: number, stationId: number) => `${kind} ${sourceId} ${stationId}`

/** Makes the sequence of a table continue after an id, so that new records do not take ids of AzuraCast. */
export async function continueSequenceAfter(sql: Sql | Tx, table: string, highestId: number): Promise<void> {
  if (highestId === 0) return
  await sql`
    select setval(s.name::regclass, greatest(${highestId}, nextval(s.name::regclass)))
    from pg_get_serial_sequence(${table}, 'id') as s (name)`
}
