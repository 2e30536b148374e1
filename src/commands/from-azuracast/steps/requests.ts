import { isIP } from 'node:net'

import { parseLibraryPath } from '../../../model/songs/library-path.ts'
import { clamp } from '../accept-record.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import { readUsableLength, readUsableTime } from '../usable-values.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** As of the field of stations. */
const maxDelayMinutes = 1_440
/** The default of `REQUEST_RETENTION_DAYS`. */
const retentionDays = 30

interface MappedRequest {
  readonly sourceId: number
  readonly row: RowToInsert
}

/** Takes requests of listeners. Those that were not played within a day have expired. */
export async function migrateRequests(migration: AzuracastMigration): Promise<void> {
  const { ids, report, stations } = migration
  const nowMs = Date.now()
  const delays = new Map<number, number>()
  for await (const { row, read } of readSourceRows(migration, 'station'))
    delays.set(
      read.number(row, 'id'),
      clamp(read.number(row, 'request_delay'), 0, maxDelayMinutes) * minuteMs
    )
  await migrateSourceTable<MappedRequest>(migration, {
    table: 'station_requests',
    kind: 'request',
    title: 'requests',
    convert(row, read, sourceId) {
      const sourceStation = read.number(row, 'station_id')
      const station = stations.get(sourceStation)
      const mediaId = ids.find('media', read.number(row, 'track_id'), station?.id)
      if (!station || mediaId === null) return null
      const name = `${station.name}: request ${sourceId}`
      const submittedAtMs = readUsableTime(read, row, 'timestamp', () => {})
      if (submittedAtMs === null) {
        report.leave('requests without a usable time', `${name}: ${read.text(row, 'timestamp') ?? 'NULL'}`)
        return null
      }
      const onProblem = (problem: string) =>
        report.leave('values of requests that are not usable', `${name}: ${problem}`)
      const playedAtMs = readUsableTime(read, row, 'played_at', onProblem)
      const address = read.text(row, 'ip') ?? ''
      const isAddress = address === '' || isIP(address) !== 0
      if (!isAddress) onProblem(`ip ${address}`)
      const isOld = submittedAtMs < nowMs - dayMs
      if (submittedAtMs < nowMs - retentionDays * dayMs)
        report.advise(
          `REQUEST_RETENTION_DAYS=0 (requests of more than ${retentionDays} days ago are removed otherwise)`
        )
      const skipsDelay = read.flag(row, 'skip_delay')
      return {
        sourceId,
        row: {
          station_id: station.id,
          media_id: mediaId,
          address: isAddress ? address : '',
          submitted_at_ms: submittedAtMs,
          due_at_ms: submittedAtMs + (skipsDelay ? 0 : (delays.get(sourceStation) ?? 0)),
          skip_delay: skipsDelay,
          state: playedAtMs !== null ? 'aired' : isOld ? 'expired' : 'pending',
          ended_at_ms: playedAtMs ?? (isOld ? submittedAtMs + dayMs : null)
        }
      }
    },
    async write(tx, requests) {
      const newIds = await ids.assign(
        tx,
        'request',
        requests.map(({ sourceId }) => ({ id: sourceId }))
      )
      const rows = requests.map(({ row }, index) => ({ ...row, id: newIds[index] }))
      await insertRows(tx, 'requests', rows, { media_id: 'media', station_id: 'stations' })
    }
  })
}

/** Takes the queue as it was, without rows that were played. */
export async function migrateQueue(migration: AzuracastMigration): Promise<void> {
  const { ids, report, stations } = migration
  await migrateSourceTable<MappedRequest>(migration, {
    table: 'station_queue',
    title: 'queued songs',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      const mediaId = ids.find('media', read.number(row, 'media_id'), station?.id)
      if (!station || read.flag(row, 'is_played')) return null
      if (mediaId === null) {
        if (read.number(row, 'media_id') === 0)
          migration.report.leave(
            'queued songs without a file',
            `${station.name}: ${read.text(row, 'text') ?? ''}`
          )
        return null
      }
      const onProblem = (problem: string) =>
        report.leave(
          'values of queued songs that are not usable',
          `${station.name}: queue ${sourceId}: ${problem}`
        )
      const cuedAtMs = readUsableTime(read, row, 'timestamp_cued', onProblem) ?? Date.now()
      const uri = read.text(row, 'autodj_custom_uri') ?? ''
      // A playout takes other schemes as commands.
      const isUsableUri = uri === '' || 'path' in parseLibraryPath(uri, null)
      if (!isUsableUri) onProblem(`autodj_custom_uri ${uri}`)
      const playlistId = ids.find('playlist', read.number(row, 'playlist_id'))
      const requestId = ids.find('request', read.number(row, 'request_id'))
      return {
        sourceId,
        row: {
          station_id: station.id,
          media_id: mediaId,
          playlist_id: playlistId,
          request_id: requestId,
          is_request: requestId !== null,
          is_manual: playlistId === null && requestId === null,
          is_visible: read.flag(row, 'is_visible', true),
          cued_at_ms: cuedAtMs,
          plays_at_ms: readUsableTime(read, row, 'timestamp_played', onProblem) ?? cuedAtMs,
          duration_ms: readUsableLength(read, row, 'duration', onProblem),
          autodj_custom_uri: isUsableUri ? uri : ''
        }
      }
    },
    async write(tx, queued) {
      const newIds = await ids.assign(
        tx,
        'queue',
        queued.map(({ sourceId }) => ({ id: sourceId }))
      )
      for (const [index, { row }] of queued.entries()) {
        const [station] = await tx<{ seq: number }[]>`
          update stations set next_seq = next_seq + 1 where id = ${Number(row['station_id'])} returning next_seq - 1 as seq`
        if (!station) continue
        const id = newIds[index] ?? 0
        const complete = { ...row, id, seq: station.seq, position: station.seq }
        await insertRows(tx, 'queue', [complete], { media_id: 'media' })
        await tx`
          update queue q set track_id = t.id from playlist_tracks t
          where q.id = ${id} and t.playlist_id = q.playlist_id and t.media_id = q.media_id`
      }
      const requestIds = queued.map(({ row }) => row['request_id']).filter(id => id !== null)
      await tx`
        update requests set state = 'queued' where id = any(${requestIds.map(Number)}::bigint[]) and state = 'pending'`
    }
  })
}
