import { createHash } from 'node:crypto'

import { stations as stationResource } from '../../api/stations/stations.ts'
import { addMissingPollRows } from '../../broadcast/polls/poll-rows.ts'
import type { Tx } from '../../db/sql.ts'
import { raiseSharedCount } from '../../playout/all-stations.ts'
import { markStationDeleted } from '../../playout/station-removal.ts'
import { OperatorError } from '../../runtime/errors.ts'
import { makeShortName, shortNamePattern } from '../../station/short-name.ts'
import { acceptRecord, clamp } from '../accept-record.ts'
import { insertRows, type NewRow } from '../insert-rows.ts'
import {
  type Migration,
  type MigratedStation,
  readProgress,
  rowsOf,
  storeProgress,
  takeTable
} from '../migration.ts'
import { type Reader, type SourceRow, textOf } from '../source.ts'

interface StationOfSource {
  readonly id: number
  readonly name: string
  readonly shortName: string
}

interface Conflict extends StationOfSource {
  /** The station of Cuewire that has the id, or else the short name. */
  readonly other: StationOfSource
}

/** Finds stations whose id or short name another station has. */
export async function findConflicts(migration: Migration): Promise<Conflict[]> {
  const fresh: StationOfSource[] = []
  for await (const { row, read } of rowsOf(migration, 'station')) {
    const source = identify(row, read)
    if (!migration.ids.wasTaken(source.id)) fresh.push(source)
  }
  const known = await migration.sql<StationOfSource[]>`
    select id, name, short_name as "shortName" from stations
    where id = any(${fresh.map(({ id }) => id)}::bigint[])
      or short_name = any(${fresh.map(({ shortName }) => shortName)}::text[])`
  return fresh.flatMap(source => {
    const other =
      known.find(({ id }) => id === source.id) ??
      known.find(({ shortName }) => shortName === source.shortName)
    return other ? [{ ...source, other }] : []
  })
}

/** Throws an `OperatorError` that names the conflicts and what can be done. */
export function refuseConflicts(conflicts: readonly Conflict[]): never {
  const lines = conflicts.map(
    ({ id, name, shortName, other }) =>
      `  ${name} (${id}, ${shortName}): Cuewire has ${other.name} (${other.id}, ${other.shortName})`
  )
  throw new OperatorError(
    `stations of AzuraCast have the id or short name of a station of Cuewire:\n${lines.join('\n')}\n` +
      'Nothing was changed. Use --on-conflict renumber (the stations of AzuraCast get new ids and short names), ' +
      '--on-conflict skip (they are left out) or --on-conflict replace (the stations of Cuewire are deleted).'
  )
}

/** Deletes the stations of Cuewire that are in the way, with all their records. */
export async function deleteConflicting(
  { sql, report }: Migration,
  conflicts: readonly Conflict[]
): Promise<void> {
  for (const { other } of conflicts) {
    await sql.begin(async tx => {
      await markStationDeleted(tx, other.id)
      await tx`delete from stations where id = ${other.id}`
    })
    report.advise(`The station ${describe(other)} of Cuewire was deleted.`)
  }
}

function identify(row: SourceRow, read: Reader): StationOfSource {
  const name = (read.text(row, 'name') ?? '').trim()
  const shortName = read.text(row, 'short_name') ?? ''
  return {
    id: read.number(row, 'id'),
    name,
    shortName: shortNamePattern.test(shortName) ? shortName : makeShortName(shortName || name)
  }
}

interface MappedStation {
  readonly sourceId: number
  readonly row: NewRow
}

/** Takes stations. They stay disabled until `enableStations`. */
export async function takeStations(migration: Migration, conflicts: readonly Conflict[]): Promise<void> {
  const { report, onConflict } = migration
  const byId = new Map(conflicts.map(conflict => [conflict.id, conflict]))
  const { lastId } = await readProgress(migration, 'station')
  await takeTable<MappedStation>(migration, {
    table: 'station',
    kind: 'station',
    title: 'stations',
    convert(row, read, sourceId) {
      const source = identify(row, read)
      const conflict = byId.get(sourceId)
      if (conflict && onConflict === 'skip') {
        report.leave(
          'stations left out because Cuewire has one with their id or short name',
          describe(source)
        )
        return null
      }
      if (sourceId <= lastId && !migration.ids.wasTaken(sourceId)) {
        report.leave('stations that an earlier run left out', describe(source))
        return null
      }
      const mapped = mapStation(migration, row, read, source)
      if (!mapped) report.leave('stations whose settings are not accepted', describe(source))
      return mapped && { sourceId, row: mapped }
    },
    async write(tx, mapped) {
      const newIds = await migration.ids.assign(
        tx,
        'station',
        mapped.map(({ sourceId }) => ({ id: sourceId }))
      )
      for (const [index, { row }] of mapped.entries()) {
        const shortName = await findFreeShortName(tx, textOf(row['short_name']))
        await insertRows(tx, 'stations', [
          { id: newIds[index], ...withIds(migration, row), short_name: shortName }
        ])
      }
    }
  })
  await readStations(migration)
}

const describe = ({ id, name, shortName }: StationOfSource) => `${name} (${id}, ${shortName})`

/** The ids of storage locations are known when they were written. */
function withIds({ ids }: Migration, row: NewRow): NewRow {
  const found = ['media', 'recordings', 'podcasts'].map(content => {
    const column = `${content}_storage_location_id`
    return [column, ids.find('storage', Number(row[column]))] as const
  })
  return { ...row, ...Object.fromEntries(found) }
}

async function findFreeShortName(tx: Tx, shortName: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? shortName : makeShortName(shortName, number)
    const [taken] = await tx`select from stations where short_name = ${name}`
    if (!taken) return name
  }
}

/** Fills `migration.stations` with those that are taken. */
async function readStations({ ids, source, signal, sql, stations, isDryRun }: Migration): Promise<void> {
  for await (const { row, read } of rowsOf({ source, onRows: () => {}, signal }, 'station')) {
    const identity = identify(row, read)
    const id = ids.find('station', identity.id)
    if (id === null) continue
    const [stored] = isDryRun
      ? []
      : await sql<{ shortName: string }[]>`
      select short_name as "shortName" from stations where id = ${id} and deleted_at is null`
    // An operator may have deleted it since.
    if (!isDryRun && !stored) continue
    const station: MigratedStation = {
      sourceId: identity.id,
      id,
      name: identity.name,
      shortName: stored?.shortName ?? identity.shortName,
      timezone: read.text(row, 'timezone') ?? 'UTC',
      mediaLocation: read.number(row, 'media_storage_location_id'),
      isEnabled: read.flag(row, 'is_enabled')
    }
    stations.set(identity.id, station)
  }
}

const minutesPerDay = 1_440

/** A number of a config; the fallback if it is unset. */
function numberOr(value: unknown, fallback: number): number {
  const text = textOf(value)
  return text === '' || !Number.isFinite(Number(text)) ? fallback : Number(text)
}

const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && value !== false && value !== 0 && value !== '0'

function mapStation(
  { secrets, report }: Migration,
  row: SourceRow,
  read: Reader,
  { name, shortName }: StationOfSource
): NewRow | null {
  const text = (column: string) => read.text(row, column) ?? ''
  const backend = read.json(row, 'backend_config')
  const frontend = read.json(row, 'frontend_config')
  const minutes = (column: string, fallback: number) =>
    clamp(numberOr(read.text(row, column), fallback), 0, minutesPerDay)
  const isPublic = read.flag(row, 'enable_public_page') || read.flag(row, 'enable_public_api')
  const crossfadeType = textOf(backend['crossfade_type'])
  const body = {
    name,
    short_name: shortName,
    description: text('description'),
    url: text('url'),
    timezone: text('timezone') || 'UTC',
    frontend: text('frontend_type'),
    backend: text('backend_type'),
    frontend_url: '',
    frontend_admin_password: textOf(frontend['admin_pw']),
    enable_streamers: read.flag(row, 'enable_streamers'),
    source_password: textOf(frontend['source_pw']),
    is_public: isPublic,
    is_enabled: false,
    hls_enabled: read.flag(row, 'enable_hls'),
    hls_is_default: isTrue(backend['hls_is_default']),
    queue_length: clamp(numberOr(backend['autodj_queue_length'], 3), 2, 25),
    history_length: clamp(read.number(row, 'api_history_items'), 0, 50),
    live_text: textOf(backend['live_broadcast_text']) || 'Live Broadcast',
    duplicate_prevention_time_range: clamp(
      numberOr(backend['duplicate_prevention_time_range'], 120),
      0,
      10_080
    ),
    crossfade_type: crossfadeType === '' ? 'normal' : crossfadeType,
    crossfade: clamp(numberOr(backend['crossfade'], 2), 0, 30),
    enable_auto_cue: isTrue(backend['enable_auto_cue']),
    enable_requests: read.flag(row, 'enable_requests'),
    request_delay: minutes('request_delay', 5),
    request_threshold: minutes('request_threshold', 15),
    max_bitrate: clamp(read.number(row, 'max_bitrate'), 0, 10_000),
    max_hls_streams: clamp(read.number(row, 'max_mounts'), 0, 1_000),
    media_storage_location_id: read.number(row, 'media_storage_location_id'),
    recordings_storage_location_id: read.number(row, 'recordings_storage_location_id'),
    podcasts_storage_location_id: read.number(row, 'podcasts_storage_location_id')
  }
  const accepted = acceptRecord(stationResource, body, secrets, problem =>
    report.leave('settings of stations that are not accepted', `${name}: ${problem}`)
  )
  if (!accepted) return null
  for (const setting of findUnusedSettings(row, read, backend, frontend))
    report.leave('settings of stations without an equivalent', `${name}: ${setting}`)
  const port = numberOr(frontend['port'], 0)
  if (port !== 0 && body.frontend !== 'remote')
    report.advise(`${name}: set frontend_url when its streaming server runs (it had port ${port}).`)
  const playoutKey = text('adapter_api_key')
  return {
    ...accepted,
    playout_key: playoutKey === '' ? '' : createHash('sha256').update(playoutKey).digest('hex')
  }
}

const isTrue = (value: unknown) => value === true || value === 1 || value === '1' || value === 'true'

/** Settings that differ from the default of AzuraCast and have no equivalent. */
function findUnusedSettings(
  row: SourceRow,
  read: Reader,
  backend: Readonly<Record<string, unknown>>,
  frontend: Readonly<Record<string, unknown>>
): string[] {
  const columns = [
    'genre',
    'fallback_path',
    'disconnect_deactivate_streamer',
    'enable_on_demand',
    'max_hls_streams'
  ].filter(column => isSet(read.text(row, column)))
  if (Object.values(read.json(row, 'branding_config')).some(isSet)) columns.push('branding_config')
  const ofBackend = Object.keys(backend).filter(name => unusedBackend.test(name) && isSet(backend[name]))
  const ofFrontend = Object.keys(frontend).filter(name => unusedFrontend.test(name) && isSet(frontend[name]))
  return [
    ...columns,
    ...ofBackend.map(name => `backend_config.${name}`),
    ...ofFrontend.map(name => `frontend_config.${name}`)
  ]
}

const unusedBackend =
  /^(?:custom_config|use_manual_autodj$|record_streams$|audio_processing_method$|stereo_tool_license_key$|enable_replaygain_metadata$|write_playlists_to_liquidsoap$|share_encoders$|hls_enable_on_public_player$)/
const unusedFrontend =
  /^(?:custom_config|max_listeners|banned_ips|banned_user_agents|banned_countries|allowed_ips|sc_license_id|sc_user_id)$/

const enabling = 'enabled stations'

/**
 * Enables the stations that AzuraCast has enabled, and raises their revisions: a running Cuewire then publishes them within
 * seconds. Happens once per station.
 */
export async function enableStations(migration: Migration): Promise<void> {
  if (migration.isDryRun) return
  const { lastId } = await readProgress(migration, enabling)
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
    await raiseSharedCount(tx)
    const newest = Math.max(...fresh.map(({ sourceId }) => sourceId))
    await storeProgress(tx, migration, enabling, { lastId: newest, isComplete: true })
  })
}
