import { hlsStreamsResource } from '../../../api/stations/hls-streams.ts'
import { remotesResource } from '../../../api/stations/remotes.ts'
import type { NamedValue } from '../../../model/fields/named-values.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { defaultMountPath } from '../../../stores/db/stations.ts'
import { toValidRow, openReportingClamp } from '../accept-record.ts'
import type { RecordKind } from '../id-map.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import {
  type AzuracastMigration,
  readStepProgress,
  storeStepProgress,
  migrateSourceTable
} from '../migration.ts'
import { parseJsonObject, type RowReader, type SourceRow, scalarToText } from '../source.ts'

interface MappedStream {
  readonly sourceId: number
  readonly row: RowToInsert
}

const formats = ['mp3', 'ogg', 'aac', 'opus', 'flac']

/** Takes mounts, HLS streams (which are mounts here) and remotes. */
export async function migrateStreams(migration: AzuracastMigration): Promise<void> {
  await migrateMounts(migration)
  await migrateHlsStreams(migration)
  await addDefaultMounts(migration)
  await migrateRemotes(migration)
}

async function migrateMounts(migration: AzuracastMigration): Promise<void> {
  const { report, secrets, stations } = migration
  await migrateSourceTable<MappedStream>(migration, {
    table: 'station_mounts',
    kind: 'mount',
    title: 'mounts',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const text = (column: string) => read.text(row, column) ?? ''
      const name = `${station.name}: ${text('name')}`
      const onProblem = (problem: string) =>
        report.leave('settings of mounts that are not accepted', `${name}: ${problem}`)
      const clampField = openReportingClamp(onProblem)
      const body = {
        name: text('name'),
        display_name: text('display_name'),
        is_visible_on_public_pages: read.flag(row, 'is_visible_on_public_pages', true),
        is_default: read.flag(row, 'is_default'),
        is_public: read.flag(row, 'is_public'),
        fallback_mount: text('fallback_mount'),
        relay_url: text('relay_url'),
        authhash: text('authhash'),
        max_listener_duration: Math.max(0, read.number(row, 'max_listener_duration')),
        enable_autodj: read.flag(row, 'enable_autodj', true),
        autodj_format: formats.includes(text('autodj_format')) ? text('autodj_format') : 'mp3',
        autodj_bitrate:
          read.text(row, 'autodj_bitrate') === null
            ? 128
            : clampField('autodj_bitrate', read.number(row, 'autodj_bitrate'), 0, 10_000),
        custom_listen_url: text('custom_listen_url'),
        frontend_config: parseMountConfig(text('frontend_config'))
      }
      const accepted = toValidRow(hlsStreamsResource, body, secrets, onProblem)
      return accepted && { sourceId, row: { station_id: station.id, ...accepted } }
    },
    write: (tx, mounts) => writeStreams(migration, tx, 'mount', mounts)
  })
}

/** A JSON object as named values; other text, such as XML, as one. */
function parseMountConfig(text: string): NamedValue[] {
  if (text.trim() === '') return []
  const members = Object.entries(parseJsonObject(text))
  return members.length === 0
    ? [{ key: 'custom_config', value: text }]
    : members.map(([key, value]) => ({ key, value: isScalar(value) ? value : JSON.stringify(value) }))
}

const isScalar = (value: unknown): value is NamedValue['value'] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

async function migrateHlsStreams(migration: AzuracastMigration): Promise<void> {
  const { report, secrets, stations } = migration
  await migrateSourceTable<MappedStream>(migration, {
    table: 'station_hls_streams',
    kind: 'hls stream',
    title: 'HLS streams',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const name = read.text(row, 'name') ?? ''
      const onProblem = (problem: string) =>
        report.leave('settings of HLS streams that are not accepted', `${station.name}: ${name}: ${problem}`)
      const clampField = openReportingClamp(onProblem)
      const body = {
        name: `/hls/${name}`,
        // Now playing lists mounts here; players find HLS streams by the address of the station.
        is_visible_on_public_pages: false,
        autodj_format: 'aac',
        autodj_bitrate: clampField('bitrate', read.number(row, 'bitrate') || 128, 0, 10_000),
        frontend_config: [{ key: 'hls_format', value: read.text(row, 'format') ?? 'aac' }]
      }
      const accepted = toValidRow(hlsStreamsResource, body, secrets, onProblem)
      return accepted && { sourceId, row: { station_id: station.id, ...accepted } }
    },
    write: (tx, streams) => writeStreams(migration, tx, 'hls stream', streams)
  })
}

/** A station has each path once, and one default. */
async function writeStreams(
  { ids, report }: AzuracastMigration,
  tx: Tx,
  kind: RecordKind,
  streams: readonly MappedStream[]
): Promise<void> {
  for (const { sourceId, row } of streams) {
    const stationId = Number(row['station_id'])
    const [taken] =
      await tx`select from hls_streams where station_id = ${stationId} and name = ${scalarToText(row['name'])}`
    if (taken) {
      report.leave(
        'mounts and HLS streams whose path the station has already',
        `station ${stationId}: ${scalarToText(row['name'])}`
      )
      continue
    }
    const [other] = await tx`select from hls_streams where station_id = ${stationId} and is_default`
    const [id] = await ids.assign(tx, kind, [{ id: sourceId }])
    await insertRows(tx, 'hls_streams', [{ id, ...row, is_default: row['is_default'] === true && !other }])
  }
}

const defaultsStep = 'default mounts'

/** Every station with streams has a default one; a station without streams gets the mount of new stations. */
async function addDefaultMounts(migration: AzuracastMigration): Promise<void> {
  const { isDryRun, sql, stations } = migration
  if (isDryRun) return
  const { lastId } = await readStepProgress(migration, defaultsStep)
  const fresh = [...stations.values()].filter(({ sourceId }) => sourceId > lastId)
  if (fresh.length === 0) return
  await sql.begin(async tx => {
    const stationIds = fresh.map(({ id }) => id)
    await tx`
      insert into hls_streams (station_id, name, is_default)
      select id, ${defaultMountPath}, true from stations s
      where id = any(${stationIds}::bigint[]) and not exists (select from hls_streams m where m.station_id = s.id)`
    await tx`
      update hls_streams set is_default = true where id in (
        select distinct on (m.station_id) m.id from hls_streams m
        where m.station_id = any(${stationIds}::bigint[])
          and not exists (select from hls_streams d where d.station_id = m.station_id and d.is_default)
        order by m.station_id, m.is_visible_on_public_pages desc, m.id)`
    await storeStepProgress(tx, migration, defaultsStep, {
      lastId: Math.max(...fresh.map(({ sourceId }) => sourceId))
    })
  })
}

async function migrateRemotes(migration: AzuracastMigration): Promise<void> {
  const { ids, report, secrets, stations } = migration
  await migrateSourceTable<MappedStream>(migration, {
    table: 'station_remotes',
    kind: 'remote',
    title: 'remotes',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const text = (column: string) => read.text(row, column) ?? ''
      const { url, type } = findRemoteStream(read, row)
      const name = text('display_name') || text('mount') || text('url')
      const isFed = read.flag(row, 'enable_autodj')
      const onProblem = (problem: string) =>
        report.leave('settings of remotes that are not accepted', `${station.name}: ${name}: ${problem}`)
      const clampField = openReportingClamp(onProblem)
      const body = {
        name: name.slice(0, 100),
        url,
        type,
        admin_password: text('admin_password'),
        is_visible: read.flag(row, 'is_visible_on_public_pages', true),
        bitrate: isFed ? clampField('autodj_bitrate', read.number(row, 'autodj_bitrate'), 0, 10_000) : 0,
        format: isFed && formats.includes(text('autodj_format')) ? text('autodj_format') : ''
      }
      const accepted = toValidRow(remotesResource, body, secrets, onProblem)
      if (isFed) report.leave('remotes to which Cuewire sends no stream', `${station.name}: ${name}`)
      if (type === '') report.leave('remotes that are not polled for listeners', `${station.name}: ${name}`)
      if (!accepted) return null
      const relayId = ids.find('relay', read.number(row, 'relay_id'))
      const relayed = { relay_id: relayId, relayed_mount: relayId === null ? null : text('mount') }
      return { sourceId, row: { station_id: station.id, ...accepted, ...relayed } }
    },
    async write(tx, mapped) {
      const newIds = await ids.assign(
        tx,
        'remote',
        mapped.map(({ sourceId }) => ({ id: sourceId }))
      )
      await insertRows(
        tx,
        'remotes',
        mapped.map(({ row }, index) => ({ id: newIds[index], ...row }))
      )
    }
  })
}

/**
 * The address of the stream of a remote, which is the one for listeners and the one that is polled. With a listen URL
 * of its own only that one is known to listeners, so it is not polled.
 */
export function findRemoteStream(
  read: RowReader,
  row: SourceRow
): { readonly url: string; readonly type: string } {
  const text = (column: string) => (read.text(row, column) ?? '').trim()
  const type = text('type')
  const base = text('url').replace(/\/+$/, '')
  const mount = text('mount')
  const listenUrl = text('custom_listen_url')
  const isShoutcast = type === 'shoutcast1' || type === 'shoutcast2'
  const stream =
    mount === ''
      ? base
      : isShoutcast
        ? `${base}/?sid=${encodeURIComponent(mount)}`
        : `${base}/${mount.replace(/^\/+/, '')}`
  if (listenUrl !== '' && listenUrl !== stream) return { url: listenUrl, type: '' }
  return { url: stream, type: type === 'icecast' || type === 'shoutcast2' ? type : '' }
}
