import type { Sql } from '../../../src/stores/db/sql.ts'

const tables = [
  'storage_locations',
  'custom_fields',
  'roles',
  'users',
  'user_roles',
  'api_keys',
  'hls_streams',
  'remotes',
  'media',
  'media_custom_fields',
  'playlists',
  'playlist_tracks',
  'playlist_folders',
  'media_folders',
  'streamers',
  'sftp_users',
  'broadcasts',
  'webhooks',
  'song_history',
  'listener_minutes',
  'requests',
  'azuracast_progress',
  'azuracast_ids'
]

/**
 * The number of rows and a hash of all rows of each table that a migration writes and that changes only by writes of
 * operators.
 */
export async function readTakenRows(sql: Sql): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const table of tables) {
    const [row] = await sql<{ rows: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as rows
      from ${sql(table)} t`
    found[table] = row?.rows ?? ''
  }
  return found
}
