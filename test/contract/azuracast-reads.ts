import { cpus, totalmem } from 'node:os'

import { expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'

/** What the database has of a station, for the answers of operations that nothing was written for. */
async function readFacts(sql: Sql, stationId: number) {
  const [row] = await sql<StationFacts[]>`
    select s.name, s.short_name as "shortName",
      (select count(*)::int from media where station_id = s.id) as songs,
      (select sum(size_bytes)::text from media where station_id = s.id) as bytes,
      (select count(*)::int from users) as users,
      (select jsonb_build_object('id', id, 'title', title, 'artist', artist) from song_history
        where station_id = s.id and ended_at_ms is null) as play
    from stations s where s.id = ${stationId}`
  if (!row) throw new Error('there is no such station')
  return row
}

interface StationFacts {
  readonly name: string
  readonly shortName: string
  readonly songs: number
  readonly bytes: string
  readonly users: number
  readonly play: { readonly id: number; readonly title: string; readonly artist: string }
}

const stationPermissions = [
  'administer all',
  'view station management',
  'view station reports',
  'view station logs',
  'manage station profile',
  'manage station broadcasting',
  'manage station streamers',
  'manage station mounts',
  'manage station remotes',
  'manage station media',
  'delete station media',
  'manage station automation',
  'manage station web hooks',
  'manage station podcasts'
]
const globalPermissions = [
  'administer all',
  'view administration',
  'view system logs',
  'administer settings',
  'administer api keys',
  'administer stations',
  'administer custom fields',
  'administer backups',
  'administer storage locations'
]

const ofIds = (ids: readonly string[]) =>
  ids.map(id => ({ id, name: expect.any(String) })).toSorted((a, b) => a.id.localeCompare(b.id))

/** The parts of answers that are known, by the path below `/api`. */
export async function readKnownResponses(
  sql: Sql,
  stationId: number
): Promise<Readonly<Record<string, unknown>>> {
  const { name, shortName, songs, bytes, users, play } = await readFacts(sql, stationId)
  const seconds = Math.floor(Date.now() / 1_000)
  const now = expect.toSatisfy((value: number) => Math.abs(value - seconds) < 60)
  const id = stationId
  const withStation = (row: object) => expect.arrayContaining([expect.objectContaining(row)])
  const song = { title: play.title, artist: play.artist }
  return {
    '/status': { online: true, timestamp: now },
    '/time': { timestamp: now, utc_json: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
    '/admin/permissions': { global: ofIds(globalPermissions), station: ofIds(stationPermissions) },
    '/admin/server/stats': {
      cpu: { cores: expect.toSatisfy((cores: unknown[]) => cores.length === cpus().length) },
      memory: { total_bytes: String(totalmem()) }
    },
    '/admin/users': expect.toSatisfy((rows: unknown[]) => rows.length >= users),
    '/admin/stations': withStation({ id, name, short_name: shortName }),
    '/stations': withStation({ id, name, shortcode: shortName }),
    '/nowplaying': expect.arrayContaining([
      expect.objectContaining({ station: expect.objectContaining({ id, shortcode: shortName }) })
    ]),
    '/nowplaying/{station}': {
      station: { id, name, shortcode: shortName },
      now_playing: { sh_id: play.id, song }
    },
    '/station/{station}': { id, name, shortcode: shortName },
    '/station/{station}/status': { backendRunning: true, frontendRunning: false },
    '/station/{station}/profile': { station: { id, name, shortcode: shortName } },
    '/station/{station}/profile/edit': { id, name, short_name: shortName },
    '/station/{station}/quota': { used_bytes: bytes, num_files: songs, quota_bytes: '', is_full: false },
    '/station/{station}/history': withStation({ sh_id: play.id, song: expect.objectContaining(song) }),
    '/station/{station}/files': expect.toSatisfy((rows: unknown[]) => rows.length === songs)
  }
}
