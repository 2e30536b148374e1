import { textOf } from '../../../src/from-azuracast/source.ts'
import type { Program } from '../program.ts'
import type { DumpRows, DumpValue } from './dump.ts'

interface RecordType {
  readonly table: string
  /** Of all records, or with `{station}` of those of a station. */
  readonly path: string
  /** The rows that the path lists; all by default. */
  readonly isListed?: (row: Readonly<Record<string, DumpValue>>) => boolean
  /** Seconds that AzuraCast adds to a time. */
  readonly delays?: Readonly<Record<string, number>>
  /** Names of columns in answers, where they differ. */
  readonly names?: Readonly<Record<string, string>>
  /** The member with the id. */
  readonly id?: string
  /** The column by which records are found that have other ids here. */
  readonly key?: string
  /** Members that are in an object of the answer. */
  readonly inside?: Readonly<Record<string, string>>
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const ofSong = { artist: 'song', title: 'song', album: 'song', text: 'song', song_id: 'song' }

/** The record types whose answers AzuraCast makes of the columns of a table. */
const types: readonly RecordType[] = [
  { table: 'station', path: '/api/admin/stations' },
  {
    table: 'storage_location',
    path: '/api/admin/storage_locations',
    names: { storage_quota: 'storageQuotaBytes', s3_bucket: camel('s3_bucket') }
  },
  { table: 'custom_field', path: '/api/admin/custom_fields' },
  { table: 'users', path: '/api/admin/users' },
  // Cuewire has roles of its own with the first ids.
  { table: 'role', path: '/api/admin/roles', key: 'name' },
  {
    table: 'station_playlists',
    path: '/api/station/{station}/playlists',
    names: { playback_order: 'order', remote_timeout: 'remote_buffer' }
  },
  // AzuraCast answers another text of files than that of the column.
  { table: 'station_media', path: '/api/station/{station}/files', names: { text: 'no member' } },
  { table: 'station_mounts', path: '/api/station/{station}/mounts' },
  // They share the ids of mounts.
  { table: 'station_hls_streams', path: '/api/station/{station}/hls_streams', key: 'name' },
  { table: 'station_remotes', path: '/api/station/{station}/remotes' },
  { table: 'station_streamers', path: '/api/station/{station}/streamers' },
  { table: 'sftp_user', path: '/api/station/{station}/sftp-users', names: { public_keys: 'publicKeys' } },
  { table: 'station_webhooks', path: '/api/station/{station}/webhooks' },
  {
    table: 'song_history',
    path: '/api/station/{station}/history?start=2000-01-01&end=2100-01-01',
    id: 'sh_id',
    names: { timestamp_start: 'played_at', song_id: 'id' },
    delays: { timestamp_start: 5 },
    inside: ofSong
  },
  {
    table: 'station_streamer_broadcasts',
    path: '/api/station/{station}/streamers/broadcasts',
    names: { timestamp_start: 'timestampStart', timestamp_end: 'timestampEnd' }
  },
  {
    table: 'station_requests',
    path: '/api/station/{station}/reports/requests?type=history',
    isListed: row => row['played_at'] instanceof Date
  }
]

/**
 * Compares the answers of a program with the rows that AzuraCast would answer with. Returns the differences as `table.column`, each
 * with an example, and the number of compared values.
 */
export async function compareAnswers(program: Program, rows: DumpRows, stations: readonly number[]) {
  const differences = new Map<string, string>()
  let compared = 0
  for (const type of types) {
    const answers = new Map<string, Readonly<Record<string, unknown>>>()
    const paths = type.path.includes('{station}')
      ? stations.map(id => type.path.replace('{station}', String(id)))
      : [type.path]
    for (const path of paths)
      for (const answer of await readAll(program, path)) answers.set(keyOf(type, answer, type.id), answer)
    for (const row of rows[type.table] ?? []) {
      if (type.path.includes('{station}') && !isOf(row, stations)) continue
      if (type.isListed?.(row) === false) continue
      const answer = answers.get(keyOf(type, row))
      if (!answer) {
        differences.set(`${type.table}: record left out`, JSON.stringify(row))
        continue
      }
      for (const [column, value] of Object.entries(row)) {
        const name = type.names?.[column] ?? column
        const holder = type.inside?.[column]
        const owner = holder === undefined ? answer : toObject(answer[holder])
        const isComputed = column === 'display_name' && value === ''
        if (
          !(name in owner) ||
          hidden.has(column) ||
          (column === 'id' && type.key !== undefined) ||
          isComputed
        )
          continue
        compared += 1
        const [ours, theirs] = [normalize(owner[name]), normalize(value, type.delays?.[column])]
        if (ours !== theirs) differences.set(`${type.table}.${column}`, `${ours} instead of ${theirs}`)
      }
    }
  }
  return { differences, compared }
}

/** Columns that AzuraCast does not show either. */
const hidden = new Set(['auth_password', 'two_factor_secret', 'streamer_password', 'password'])

function keyOf({ key }: RecordType, record: Readonly<Record<string, unknown>>, id = 'id'): string {
  return key === undefined ? textOf(record[id]) : `${textOf(record['station_id'])} ${textOf(record[key])}`
}

/** Songs have the station of their storage location, of which each station has three. */
function isOf(row: Readonly<Record<string, DumpValue>>, stations: readonly number[]): boolean {
  const location = row['storage_location_id']
  const station = typeof location === 'number' ? Math.ceil(location / 3) : row['station_id']
  return stations.some(id => id === station)
}

const toObject = (value: unknown): Readonly<Record<string, unknown>> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of a test
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

async function readAll(program: Program, path: string): Promise<Readonly<Record<string, unknown>>[]> {
  const rows: Readonly<Record<string, unknown>>[] = []
  for (let page = 1; ; page++) {
    const { status, body } = await program.ask(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}per_page=500&page=${page}`
    )
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
    rows.push(...body.rows)
    if (page >= body.total_pages) return rows
  }
}

/** Unset values are alike, and numbers, flags and times as JSON or as a database has them. */
function normalize(value: unknown, delay = 0): string {
  if (value === null || value === undefined || value === '' || value === false) return '0'
  if (value === true) return '1'
  if (value instanceof Date) return String(Math.floor(value.getTime() / 1_000) + delay)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return normalize(new Date(value))
  if (Array.isArray(value)) return value.filter(each => each !== '').join(',') || '0'
  if (typeof value !== 'object') return textOf(value)
  const members = Object.entries(value).filter(([, member]) => normalize(member) !== '0')
  return members.length === 0
    ? '0'
    : JSON.stringify(Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
