import type { Revisions } from '../model/station/state.ts'
import type { Tx } from '../stores/db/sql.ts'

/** Columns of `stations` that changes write. */
export type StationColumns = { readonly [Name in StationColumn]?: number | null }

type StationColumn = 'wake_at_ms' | 'wake_version' | 'next_seq' | 'filled_version'

/** What is written to the row of a station. */
interface StationWrite {
  readonly stationId: number
  /** Parts whose revision is raised, with that of the station. */
  readonly parts: ReadonlySet<keyof Revisions>
  readonly columns: StationColumns
}

/** The statements that write stations: one for all that write the same parts and columns. */
export function writeStations(tx: Tx, writes: readonly StationWrite[]) {
  const groups = new Map<string, StationWrite[]>()
  for (const write of writes) {
    const names = namesOf(write)
    if (names.length === 0) continue
    const group = groups.get(names.join())
    if (group) group.push(write)
    else groups.set(names.join(), [write])
  }
  return [...groups.values()].map(group => writeAlike(tx, group))
}

const namesOf = ({ parts, columns }: StationWrite) => [...parts, ...columnsOf(columns)].toSorted()

const columnsOf = (columns: StationColumns) =>
  Object.keys(columns).filter((name): name is StationColumn => Object.hasOwn(columns, name))

/** `writes` have the same parts and columns. */
function writeAlike(tx: Tx, writes: readonly StationWrite[]) {
  const parts = [...(writes[0]?.parts ?? [])].toSorted()
  const names = columnsOf(writes[0]?.columns ?? {}).toSorted()
  const assignments = [
    ...names.map(name => tx`${tx(name)} = x.${tx(name)}`),
    ...(parts.length === 0 ? [] : [tx`revision = next_revision(s.revision)`]),
    ...parts.map(part => tx`${tx(`${part}_revision`)} = next_revision(s.revision)`)
  ]
  const values = names.map(name => tx`, ${writes.map(({ columns }) => columns[name] ?? null)}::bigint[]`)
  // In tests a database trigger refuses to raise a revision without this setting.
  const setting = tx`, (select set_config('cuewire.raises_revision', 'on', true)) setting`
  return tx`
    update stations s set ${assignments.reduce((all, each) => tx`${all}, ${each}`)}
    from unnest(${writes.map(({ stationId }) => stationId)}::bigint[]${values.reduce((all, each) => tx`${all}${each}`, tx``)})
      as x (${tx(['id', ...names])})${parts.length === 0 ? tx`` : setting}
    where s.id = x.id`
}
