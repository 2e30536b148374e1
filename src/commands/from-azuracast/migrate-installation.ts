import type { Sql } from '../../stores/db/sql.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { continueSequenceAfter, openIdMap, type RecordKind, tableOfKind } from './id-map.ts'
import { openMigrationReport, type MigrationReport } from './migration-report.ts'
import type { AzuracastMigration } from './migration.ts'
import { openRowReader, type AzuracastSource } from './source.ts'
import { copyMedia } from './steps/copy-media.ts'
import { migrateCovers } from './steps/covers.ts'
import { migrateCustomFields } from './steps/custom-fields.ts'
import { migrateHistory } from './steps/history.ts'
import { reportLeftOut } from './steps/left-out.ts'
import { migrateListenerMinutes } from './steps/listener-minutes.ts'
import { migrateFieldValues, migrateMedia } from './steps/media.ts'
import { migratePeople } from './steps/people.ts'
import { migratePlaylistEntries } from './steps/playlist-entries.ts'
import { migratePlaylistFolders } from './steps/playlist-folders.ts'
import { reserveScheduleIds, readSourceSchedules, migratePlaylists } from './steps/playlists.ts'
import { migrateRelays } from './steps/relays.ts'
import { migrateQueue, migrateRequests } from './steps/requests.ts'
import { migrateSettings } from './steps/settings.ts'
import {
  reportStationConflicts,
  deleteConflictingStations,
  findStationConflicts,
  refuseStationConflicts
} from './steps/station-conflicts.ts'
import { migrateStationFiles } from './steps/station-files.ts'
import { enableStations, migrateStations } from './steps/stations.ts'
import { migrateStorageLocations } from './steps/storage.ts'
import { migrateBroadcasts, migrateSftpUsers, migrateStreamers } from './steps/streamers.ts'
import { migrateStreams } from './steps/streams.ts'
import { migrateWebhooks } from './steps/webhooks.ts'
import { withRepairedTexts } from './text-encoding.ts'

export type AzuracastMigrationOptions = Pick<
  AzuracastMigration,
  | 'source'
  | 'files'
  | 'isDryRun'
  | 'onConflict'
  | 'copyMediaTo'
  | 'dataDir'
  | 'storageRoots'
  | 'signal'
  | 'onRows'
>

/**
 * Takes over an installation of AzuraCast. Idempotent, and resumable after an abort or a crash: every batch is written
 * with its progress. New stations are enabled and published at the end. Throws an `OperatorError` before anything is
 * written if stations have the id or short name of others, unless `onConflict` says what to do or it is a dry run.
 */
export async function migrateInstallation(
  sql: Sql,
  secrets: Secrets,
  options: AzuracastMigrationOptions
): Promise<MigrationReport> {
  const { isDryRun } = options
  const report = openMigrationReport()
  const source = await withRepairedTexts(options.source, report)
  const installation = await readInstallation(source)
  const ids = await openIdMap(sql, installation)
  const migration: AzuracastMigration = {
    ...options,
    source,
    sql,
    secrets,
    installation,
    ids,
    report,
    stations: new Map()
  }
  const conflicts = await findStationConflicts(migration)
  if (conflicts.length > 0 && options.onConflict === 'refuse') {
    if (!isDryRun) refuseStationConflicts(conflicts)
    reportStationConflicts(report, conflicts)
  }
  const isReplacing = options.onConflict === 'replace' && !isDryRun
  if (isReplacing) await deleteConflictingStations(migration, conflicts)
  if (!isDryRun) await moveSequences(sql, source)

  await migrateStorageLocations(migration)
  await migrateCustomFields(migration)
  await migrateStations(migration, isReplacing ? [] : conflicts)
  await migratePeople(migration)
  await migrateRelays(migration)
  await migrateStreams(migration)
  await migrateMedia(migration)
  await migrateFieldValues(migration)
  const schedules = await readSourceSchedules(migration)
  await reserveScheduleIds(migration)
  await migratePlaylists(migration, schedules)
  await migratePlaylistEntries(migration)
  await migratePlaylistFolders(migration)
  await migrateStreamers(migration, schedules)
  await migrateSftpUsers(migration)
  await migrateBroadcasts(migration)
  await migrateWebhooks(migration)
  await migrateHistory(migration)
  await migrateListenerMinutes(migration)
  await migrateRequests(migration)
  await migrateQueue(migration)
  await copyMedia(migration)
  await migrateCovers(migration)
  await migrateStationFiles(migration)
  await migrateSettings(migration)
  await reportLeftOut(migration)
  // The stations begin to play with plans of queries for the tables as they are now.
  if (!migration.isDryRun) await migration.sql`analyze`
  await enableStations(migration)
  return report
}

/** The identifier that AzuraCast has given itself. */
async function readInstallation(source: AzuracastSource): Promise<string> {
  const read = openRowReader(source.tables.get('settings'))
  for await (const rows of source.rows('settings'))
    for (const row of rows) {
      const identifier = read.text(row, 'app_unique_identifier')
      if (identifier) return identifier
    }
  return source.description
}

/** Tables of AzuraCast and, of the records here, the kind. */
const numbered: readonly (readonly [table: string, kind: RecordKind])[] = [
  ['storage_location', 'storage'],
  ['station', 'station'],
  ['users', 'user'],
  ['role', 'role'],
  ['custom_field', 'custom field'],
  ['station_media', 'media'],
  ['station_playlists', 'playlist'],
  ['station_mounts', 'mount'],
  ['station_hls_streams', 'hls stream'],
  ['relays', 'relay'],
  ['station_remotes', 'remote'],
  ['station_streamers', 'streamer'],
  ['sftp_user', 'sftp user'],
  ['station_webhooks', 'webhook'],
  ['station_requests', 'request'],
  ['station_queue', 'queue'],
  ['station_streamer_broadcasts', 'broadcast'],
  ['station_playlist_media', 'track'],
  ['song_history', 'play']
]

/** So that a running Cuewire gives no new record an id of AzuraCast meanwhile. */
async function moveSequences(sql: Sql, source: AzuracastSource): Promise<void> {
  for (const [table, kind] of numbered)
    await continueSequenceAfter(sql, tableOfKind(kind), source.tables.get(table)?.maxId ?? 0)
}
