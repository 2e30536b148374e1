import { parseTimezone } from '../../../api/stations/stations.ts'
import { raiseSharedFactCount } from '../../../engine/all-stations.ts'
import { OperatorError } from '../../../platform/runtime/operator-error.ts'
import { addMissingPollRows } from '../../../radio/polls/poll-rows.ts'
import { storeFormerName } from '../../../stores/db/former-names.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import {
  type AzuracastMigration,
  type MigratedStation,
  readStepProgress,
  readSourceRows,
  storeStepProgress,
  migrateSourceTable
} from '../migration.ts'
import { scalarToText } from '../source.ts'
import { mapStation } from './map-station.ts'
import {
  chooseShortNames,
  type StationConflict,
  describeStation,
  formerNameOf,
  readStationNames
} from './station-conflicts.ts'

interface MappedStation {
  readonly sourceId: number
  readonly row: RowToInsert
  readonly formerName: string | null
}

/** Takes stations. They stay disabled until `enableStations`. */
export async function migrateStations(
  migration: AzuracastMigration,
  conflicts: readonly StationConflict[]
): Promise<void> {
  const { report, onConflict } = migration
  const byId = new Map(conflicts.map(conflict => [conflict.id, conflict]))
  const { lastId } = await readStepProgress(migration, 'station')
  const shortNames = await chooseShortNames(migration, conflicts)
  await migrateSourceTable<MappedStation>(migration, {
    table: 'station',
    kind: 'station',
    title: 'stations',
    convert(row, read, sourceId) {
      const source = readStationNames(row, read)
      const conflict = byId.get(sourceId)
      if (conflict && onConflict === 'skip') {
        report.leave(
          'stations left out because Cuewire has one with their id or short name',
          describeStation(source)
        )
        return null
      }
      if (sourceId <= lastId && !migration.ids.wasTaken(sourceId)) {
        report.leave('stations that an earlier run left out', describeStation(source))
        return null
      }
      const shortName = shortNames.get(sourceId) ?? source.shortName
      const mapped = mapStation(migration, row, read, { ...source, shortName })
      if (!mapped) report.leave('stations whose settings are not accepted', describeStation(source))
      return mapped && { sourceId, row: mapped, formerName: formerNameOf(source) }
    },
    async write(tx, mapped) {
      const newIds = await migration.ids.assign(
        tx,
        'station',
        mapped.map(({ sourceId }) => ({ id: sourceId }))
      )
      for (const [index, { row, formerName }] of mapped.entries()) {
        const added = await insertRows(tx, 'stations', [{ id: newIds[index], ...withIds(migration, row) }])
        if (added === 0)
          throw new OperatorError(
            `a station ${scalarToText(row['short_name'])} was created in Cuewire meanwhile: run the command again`
          )
        if (formerName !== null) await storeFormerName(tx, newIds[index] ?? 0, formerName)
      }
    }
  })
  await readSourceStations(migration, shortNames)
}

/** The ids of storage locations are known when they were written. */
function withIds({ ids }: AzuracastMigration, row: RowToInsert): RowToInsert {
  const found = ['media', 'recordings', 'podcasts'].map(content => {
    const column = `${content}_storage_location_id`
    return [column, ids.find('storage', Number(row[column]))] as const
  })
  return { ...row, ...Object.fromEntries(found) }
}

/** Fills `migration.stations` with those that are taken. */
async function readSourceStations(
  { ids, report, source, signal, sql, stations }: AzuracastMigration,
  shortNames: ReadonlyMap<number, string>
): Promise<void> {
  for await (const { row, read } of readSourceRows({ source, onRows: () => {}, signal }, 'station')) {
    const identity = readStationNames(row, read)
    const id = ids.find('station', identity.id)
    if (id === null) continue
    const [stored] = ids.wasTaken(identity.id)
      ? await sql<{ shortName: string }[]>`
          select short_name as "shortName" from stations where id = ${id} and deleted_at is null`
      : []
    // An operator may have deleted it since.
    if (ids.wasTaken(identity.id) && !stored) continue
    const shortName = stored?.shortName ?? shortNames.get(identity.id) ?? identity.shortName
    const formerName = formerNameOf(identity)
    if (shortName !== identity.sourceShortName && identity.sourceShortName !== '')
      report.leave(
        formerName === null
          ? 'short names of stations that changed: addresses with the old one do not work'
          : 'short names of stations that changed: addresses with the old one work as well',
        `${identity.name}: ${identity.sourceShortName} becomes ${shortName}`
      )
    const station: MigratedStation = {
      sourceId: identity.id,
      id,
      name: identity.name,
      shortName,
      timezone: parseTimezone(read.text(row, 'timezone') ?? '') ?? 'UTC',
      mediaLocation: read.number(row, 'media_storage_location_id'),
      isEnabled: read.flag(row, 'is_enabled', true),
      hasOnDemand: read.flag(row, 'enable_on_demand')
    }
    stations.set(identity.id, station)
  }
}

const enabling = 'enabled stations'

/**
 * Enables the stations that AzuraCast has enabled, and raises their revisions: a running Cuewire then publishes them
 * within seconds. Happens once per station.
 */
export async function enableStations(migration: AzuracastMigration): Promise<void> {
  if (migration.isDryRun) return
  const { lastId } = await readStepProgress(migration, enabling)
  const fresh = [...migration.stations.values()].filter(({ sourceId }) => sourceId > lastId)
  if (fresh.length === 0) return
  const enabledIds = fresh.filter(({ isEnabled }) => isEnabled).map(({ id }) => id)
  await migration.sql.begin(async tx => {
    await tx`
      update stations set is_enabled = id = any(${enabledIds}::bigint[]), revision = next_revision(revision),
        station_revision = next_revision(revision), playback_revision = next_revision(revision),
        queue_revision = next_revision(revision), live_revision = next_revision(revision), filled_version = -1
      from (select set_config('cuewire.raises_revision', 'on', true)) setting
      where id = any(${fresh.map(({ id }) => id)}::bigint[])`
    for (const { id } of fresh) await addMissingPollRows(tx, id)
    await raiseSharedFactCount(tx)
    const newest = Math.max(...fresh.map(({ sourceId }) => sourceId))
    await storeStepProgress(tx, migration, enabling, { lastId: newest, isComplete: true })
  })
}
