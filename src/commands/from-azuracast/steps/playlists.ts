import { safeParse } from 'valibot'

import { playlistsResource as playlistResource } from '../../../api/playlists/playlists.ts'
import { scheduleItemValidator } from '../../../api/playlists/schedule-items.ts'
import type { ScheduleItem } from '../../../model/autodj/schedule.ts'
import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import { generateUniqueId, computeAddressSongId } from '../../../model/songs/song.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { toValidRow, openReportingClamp } from '../accept-record.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import { scalarToText } from '../source.ts'

/** Schedule items of playlists and of streamers, by their ids in AzuraCast. */
export interface SourceSchedules {
  readonly playlists: ReadonlyMap<number, readonly ScheduleItem[]>
  readonly streamers: ReadonlyMap<number, readonly ScheduleItem[]>
}

export async function readSourceSchedules(migration: AzuracastMigration): Promise<SourceSchedules> {
  const playlists = new Map<number, ScheduleItem[]>()
  const streamers = new Map<number, ScheduleItem[]>()
  for await (const { row, read } of readSourceRows(migration, 'station_schedules')) {
    const playlistId = read.number(row, 'playlist_id')
    const [owners, ownerId] =
      playlistId === 0 ? [streamers, read.number(row, 'streamer_id')] : [playlists, playlistId]
    const parsed = safeParse(scheduleItemValidator, {
      id: read.number(row, 'id'),
      start_time: read.number(row, 'start_time'),
      end_time: read.number(row, 'end_time'),
      start_date: read.text(row, 'start_date') ?? '',
      end_date: read.text(row, 'end_date') ?? '',
      days: read.text(row, 'days') ?? '',
      loop_once: read.flag(row, 'loop_once')
    })
    const owner = `${playlistId === 0 ? 'streamer' : 'playlist'} ${ownerId}`
    if (parsed.success) owners.set(ownerId, [...(owners.get(ownerId) ?? []), parsed.output])
    else
      migration.report.leave(
        'schedule items that are not accepted',
        `${owner}: item ${read.number(row, 'id')}`
      )
  }
  return { playlists, streamers }
}

/** New schedule items get higher ids. */
export async function reserveScheduleIds({ sql, source, isDryRun }: AzuracastMigration): Promise<void> {
  const highest = source.tables.get('station_schedules')?.maxId ?? 0
  if (highest > 0 && !isDryRun)
    await sql`select setval('schedule_item_ids', greatest(${highest}, nextval('schedule_item_ids')))`
}

interface MappedPlaylist {
  readonly sourceId: number
  readonly row: RowToInsert
}

/** Takes playlists, those of addresses with their entry. */
export async function migratePlaylists(
  migration: AzuracastMigration,
  schedules: SourceSchedules
): Promise<void> {
  const { ids, report, secrets, stations } = migration
  await migrateSourceTable<MappedPlaylist>(migration, {
    table: 'station_playlists',
    kind: 'playlist',
    title: 'playlists',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const text = (column: string) => read.text(row, column) ?? ''
      const name = `${station.name}: ${text('name')}`
      const onProblem = (problem: string) =>
        report.leave('settings of playlists that are not accepted', `${name}: ${problem}`)
      const clampField = openReportingClamp(onProblem)
      const isRemote = text('source') === 'remote_url'
      const isOnDemand = read.flag(row, 'include_in_on_demand')
      // Stations have no such setting here: the songs would become public.
      if (isOnDemand && !station.hasOnDemand)
        report.leave('playlists whose songs are not on demand, because their station has that off', name)
      const body = {
        name: text('name'),
        type: isRemote ? 'default' : text('type'),
        source: text('source'),
        order: text('playback_order'),
        remote_url: text('remote_url'),
        remote_type: text('remote_type') || 'stream',
        remote_buffer: clampField('remote_timeout', read.number(row, 'remote_timeout'), 0, 120),
        is_enabled: read.flag(row, 'is_enabled', true),
        is_jingle: read.flag(row, 'is_jingle'),
        play_per_songs: clampField('play_per_songs', read.number(row, 'play_per_songs'), 0, 32_767),
        play_per_minutes: clampField('play_per_minutes', read.number(row, 'play_per_minutes'), 0, 32_767),
        play_per_hour_minute: clampField(
          'play_per_hour_minute',
          read.number(row, 'play_per_hour_minute'),
          0,
          59
        ),
        weight: clampField('weight', read.number(row, 'weight'), 0, 100) || 3,
        include_in_requests: read.flag(row, 'include_in_requests', true),
        include_in_on_demand: isOnDemand && station.hasOnDemand,
        backend_options: text('backend_options'),
        avoid_duplicates: read.flag(row, 'avoid_duplicates', true),
        schedule_items: schedules.playlists.get(sourceId) ?? []
      }
      const accepted = toValidRow(playlistResource, body, secrets, onProblem)
      if (!accepted) return null
      if (text('description') !== '')
        report.leave('settings of playlists without an equivalent', `${name}: description`)
      return { sourceId, row: { station_id: station.id, ...accepted } }
    },
    async write(tx, playlists) {
      const newIds = await ids.assign(
        tx,
        'playlist',
        playlists.map(({ sourceId }) => ({ id: sourceId }))
      )
      const rows = playlists.map(({ row }, index) => ({ ...row, id: newIds[index] }))
      await insertRows(tx, 'playlists', rows)
      await insertEntries(tx, rows)
    }
  })
}

/** What is behind a single address is the one entry of its playlist; lists are fetched by the workers. */
async function insertEntries(tx: Tx, playlists: readonly RowToInsert[]): Promise<void> {
  const single = playlists.filter(
    ({ source, remote_type: type, remote_url: url }) =>
      source === 'remote_url' && type !== 'playlist' && url !== ''
  )
  for (const { id, station_id: stationId, remote_url: url, name } of single) {
    const path = scalarToText(url)
    const title = scalarToText(name)
    const [media] = await tx<{ id: number }[]>`
      insert into media (station_id, unique_id, path, song_id, title, title_key, artist_keys, remote_playlist_id)
      values (${Number(stationId)}, ${generateUniqueId()}, ${path}, ${computeAddressSongId(path)}, ${title},
        ${titleKey(title)}, ${artistKeys('')}, ${Number(id)})
      returning id`
    if (media) await insertTrack(tx, Number(id), media.id)
  }
}

async function insertTrack(tx: Tx, playlistId: number, mediaId: number): Promise<void> {
  await tx`
    insert into playlist_tracks (playlist_id, media_id, position) values (${playlistId}, ${mediaId}, 1)`
}
