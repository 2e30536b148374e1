import { sftpUsersResource } from '../../../api/admin/sftp-users.ts'
import { parseSshPublicKeys } from '../../../api/admin/ssh-public-keys.ts'
import { isVerifiablePasswordHash } from '../../../api/auth/passwords.ts'
import { streamersResource as streamerResource } from '../../../api/streamers/streamers.ts'
import { cleanLine } from '../../../model/songs/song.ts'
import { toValidRow } from '../accept-record.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import { scalarToText } from '../source.ts'
import { parseUsablePath, readUsableTime } from '../usable-values.ts'
import type { SourceSchedules } from './playlists.ts'

interface MappedAccount {
  readonly sourceId: number
  readonly row: RowToInsert
}

/** Takes streamers with their passwords and schedules. */
export async function migrateStreamers(
  migration: AzuracastMigration,
  schedules: SourceSchedules
): Promise<void> {
  const { ids, report, secrets, stations } = migration
  await migrateSourceTable<MappedAccount>(migration, {
    table: 'station_streamers',
    kind: 'streamer',
    title: 'streamers',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const username = read.text(row, 'streamer_username') ?? ''
      const name = `${station.name}: ${username}`
      const body = {
        streamer_username: username,
        display_name: read.text(row, 'display_name') ?? '',
        comments: read.text(row, 'comments') ?? '',
        is_active: read.flag(row, 'is_active', true),
        enforce_schedule: read.flag(row, 'enforce_schedule'),
        schedule_items: schedules.streamers.get(sourceId) ?? []
      }
      const accepted = toValidRow(streamerResource, body, secrets, problem =>
        report.leave('streamers or settings of them that are not accepted', `${name}: ${problem}`)
      )
      if (!accepted) return null
      const hash = read.text(row, 'streamer_password') ?? ''
      if (!isVerifiablePasswordHash(hash)) report.leave('passwords of streamers that must be set anew', name)
      if (read.time(row, 'reactivate_at') !== null && !body.is_active)
        report.leave('streamers that must be activated again by hand', name)
      return {
        sourceId,
        row: {
          station_id: station.id,
          ...accepted,
          streamer_password: isVerifiablePasswordHash(hash) ? hash : ''
        }
      }
    },
    async write(tx, accounts) {
      const newIds = await ids.assign(
        tx,
        'streamer',
        accounts.map(({ sourceId }) => ({ id: sourceId }))
      )
      await insertRows(
        tx,
        'streamers',
        accounts.map(({ row }, index) => ({ ...row, id: newIds[index] }))
      )
    }
  })
}

/** Takes the times at which streamers were live. */
export async function migrateBroadcasts(migration: AzuracastMigration): Promise<void> {
  const { ids, report, stations } = migration
  const names = new Map<number, { username: string; name: string }>()
  for await (const { row, read } of readSourceRows(migration, 'station_streamers')) {
    const username = read.text(row, 'streamer_username') ?? ''
    names.set(read.number(row, 'id'), { username, name: read.text(row, 'display_name') || username })
  }
  await migrateSourceTable<MappedAccount>(migration, {
    table: 'station_streamer_broadcasts',
    title: 'broadcasts',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const name = `${station.name}: broadcast ${sourceId}`
      const startedAtMs = readUsableTime(read, row, 'timestamp_start', () => {})
      if (startedAtMs === null) {
        report.leave(
          'broadcasts without a usable start',
          `${name}: ${read.text(row, 'timestamp_start') ?? 'NULL'}`
        )
        return null
      }
      const onProblem = (problem: string) =>
        report.leave('values of broadcasts that are not usable', `${name}: ${problem}`)
      const recording = read.text(row, 'recording_path') ?? ''
      const isUsablePath = recording === '' || 'path' in parseUsablePath(recording)
      if (!isUsablePath) onProblem(`recording_path ${recording}`)
      const streamer = names.get(read.number(row, 'streamer_id'))
      return {
        sourceId,
        row: {
          station_id: station.id,
          streamer_id: ids.find('streamer', read.number(row, 'streamer_id')),
          username: cleanLine(streamer?.username ?? '', 255),
          streamer_name: cleanLine(streamer?.name ?? '', 255),
          // Below the folder of recordings.
          recording_path: isUsablePath ? recording : '',
          started_at_ms: startedAtMs,
          // One that had not ended is over: the streamer connects to another server now.
          ended_at_ms: Math.max(
            startedAtMs,
            readUsableTime(read, row, 'timestamp_end', onProblem) ?? startedAtMs
          )
        }
      }
    },
    async write(tx, broadcasts) {
      const newIds = await ids.assign(
        tx,
        'broadcast',
        broadcasts.map(({ sourceId }) => ({ id: sourceId }))
      )
      await insertRows(
        tx,
        'broadcasts',
        broadcasts.map(({ row }, index) => ({ ...row, id: newIds[index] }))
      )
    }
  })
}

/** Takes SFTP users with their passwords and keys. */
export async function migrateSftpUsers(migration: AzuracastMigration): Promise<void> {
  const { ids, report, secrets, stations } = migration
  await migrateSourceTable<MappedAccount>(migration, {
    table: 'sftp_user',
    kind: 'sftp user',
    title: 'SFTP users',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const username = read.text(row, 'username') ?? ''
      const keys = read.text(row, 'public_keys') ?? ''
      for (const { message } of parseSshPublicKeys(keys).problems)
        report.leave('public keys of SFTP users that are not accepted', `${username}: ${message}`)
      const accepted = toValidRow(
        sftpUsersResource,
        { username, publicKeys: withoutInvalidKeys(keys) },
        secrets,
        problem =>
          report.leave('SFTP users or settings of them that are not accepted', `${username}: ${problem}`)
      )
      if (!accepted) return null
      const hash = read.text(row, 'password') ?? ''
      if (!isVerifiablePasswordHash(hash))
        report.leave('passwords of SFTP users that must be set anew', username)
      return {
        sourceId,
        row: { station_id: station.id, ...accepted, password: isVerifiablePasswordHash(hash) ? hash : '' }
      }
    },
    async write(tx, users) {
      for (const { sourceId, row } of users) {
        const username = scalarToText(row['username'])
        const [taken] = await tx`select from sftp_users where username = ${username}`
        if (taken) {
          report.leave('SFTP users whose name Cuewire has', username)
          continue
        }
        const [id] = await ids.assign(tx, 'sftp user', [{ id: sourceId }])
        await insertRows(tx, 'sftp_users', [{ ...row, id }])
      }
    }
  })
}

function withoutInvalidKeys(keys: string): string {
  const invalidLines = new Set(parseSshPublicKeys(keys).problems.map(({ line }) => line))
  if (invalidLines.has(0)) return ''
  return keys
    .split(/\r\n|\r|\n/)
    .filter((_, index) => !invalidLines.has(index + 1))
    .join('\n')
}
