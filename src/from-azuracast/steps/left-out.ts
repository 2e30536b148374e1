import { type Migration, rowsOf } from '../migration.ts'

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

/** Lists what is not taken, and what the settings of the installation mean for the environment of Cuewire. */
export async function listLeftOut(migration: Migration): Promise<void> {
  const { report, source } = migration
  for (const [table, [what, column]] of Object.entries(tables))
    for await (const { row, read } of rowsOf(migration, table))
      report.leave(what, read.text(row, column) ?? '')
  for (const [table, what] of Object.entries(counted)) {
    const rows = source.tables.get(table)?.rows ?? 0
    if (rows > 0) report.leave(what, `${rows} rows`)
  }
  for (const missing of source.missing) report.leave('what this source does not contain', missing)
  const known = new Set<string>([...Object.keys(tables), ...Object.keys(counted), ...takenTables])
  for (const { name, rows } of source.tables.values())
    if (!known.has(name) && rows > 0) report.leave('unknown tables', `${name}: ${rows} rows`)
  await adviseSettings(migration)
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

/** Cuewire is configured by environment variables. */
async function adviseSettings(migration: Migration): Promise<void> {
  const { report } = migration
  for await (const { row, read } of rowsOf(migration, 'settings')) {
    const text = (column: string) => read.text(row, column) ?? ''
    if (text('base_url') !== '') report.advise(`BASE_URL=${text('base_url')}`)
    if (text('api_access_control') !== '') report.advise(`CORS_ALLOWED_ORIGINS=${text('api_access_control')}`)
    const days = read.number(row, 'history_keep_days')
    if (days > 0) report.advise(`HISTORY_RETENTION_DAYS=${days}`)
    if (read.flag(row, 'mail_enabled') && text('mail_smtp_host') !== '') {
      const user = encodeURIComponent(text('mail_smtp_username'))
      const scheme = read.flag(row, 'mail_smtp_secure') ? 'smtps' : 'smtp'
      const address = `${text('mail_smtp_host')}:${read.number(row, 'mail_smtp_port')}`
      report.advise(
        `SMTP_URL=${scheme}://${user === '' ? '' : `${user}:PASSWORD@`}${address} (the password is not printed)`
      )
    }
    const unused = unusedSettings.filter(column => text(column) !== '' && text(column) !== '0')
    for (const column of unused) report.leave('settings of the installation without an equivalent', column)
  }
}

const unusedSettings = [
  'instance_name',
  'public_theme',
  'public_custom_css',
  'public_custom_js',
  'internal_custom_css',
  'homepage_redirect_url',
  'default_album_art_url',
  'hide_album_art',
  'backup_enabled',
  'geolite_license_key',
  'last_fm_api_key',
  'acme_email',
  'acme_domains'
]
