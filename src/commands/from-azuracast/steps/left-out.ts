import { type AzuracastMigration, readSourceRows } from '../migration.ts'

/** Tables whose rows have no equivalent: what they hold, and the column with the name of a row. */
const tables = {
  podcast: ['podcasts', 'title'],
  podcast_episode: ['episodes of podcasts', 'title'],
  podcast_media: ['files of podcast episodes', 'path'],
  user_passkeys: ['passkeys: they belong to the address of AzuraCast', 'name'],
  unprocessable_media: ['files that AzuraCast could not read', 'path']
} as const

/** Tables that are only counted. */
const counted = {
  listener: 'connections of listeners with their IP addresses',
  audit_log: 'entries of the audit log',
  user_login_tokens: 'tokens to sign in'
} as const

/** Lists what is not taken. */
export async function reportLeftOut(migration: AzuracastMigration): Promise<void> {
  const { report, source } = migration
  for (const [table, [what, column]] of Object.entries(tables))
    for await (const { row, read } of readSourceRows(migration, table))
      report.leave(what, read.text(row, column) ?? '')
  for (const [table, what] of Object.entries(counted)) {
    const rows = source.tables.get(table)?.rows ?? 0
    if (rows > 0) report.leave(what, `${rows} rows`)
  }
  for (const missing of source.missing) report.leave('what this source does not contain', missing)
  const known = new Set<string>([...Object.keys(tables), ...Object.keys(counted), ...takenTables])
  for (const { name, rows } of source.tables.values())
    if (!known.has(name) && rows > 0) report.leave('unknown tables', `${name}: ${rows} rows`)
}

const takenTables = [
  'analytics',
  'api_keys',
  'app_migrations',
  'custom_field',
  'relays',
  'role',
  'role_permissions',
  'settings',
  'sftp_user',
  'song_history',
  'station',
  'station_hls_streams',
  'station_media',
  'station_media_custom_field',
  'station_mounts',
  'station_playlist_folders',
  'station_playlist_media',
  'station_playlists',
  'station_queue',
  'station_remotes',
  'station_requests',
  'station_schedules',
  'station_streamer_broadcasts',
  'station_streamers',
  'station_webhooks',
  'storage_location',
  'user_has_role',
  'users'
]
