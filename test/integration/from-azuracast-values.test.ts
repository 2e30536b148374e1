import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { migrateFromAzuracastCommand } from '../../src/commands/from-azuracast/command.ts'
import { decodeWindows1252 } from '../../src/platform/text/foreign-text.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { type DumpRows, type DumpValue, renderDump } from '../support/azuracast/dump.ts'
import { generateInstallation, newestPlay } from '../support/azuracast/installation.ts'
import { commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const run = commandRunner('src/commands/from-azuracast/main.ts', call =>
  migrateFromAzuracastCommand(call, AbortSignal.timeout(120_000))
)

const sizes = { stations: 1, songs: 12, plays: 12, days: 1 }
type Changes = Readonly<Record<string, Readonly<Record<number, Readonly<Record<string, DumpValue>>>>>>

/** The rows of an installation in which the rows of tables with these ids have other values. */
function installationWith(changes: Changes): DumpRows {
  const rows = generateInstallation(sizes)
  return Object.fromEntries(
    Object.entries(rows).map(([table, all]) => [
      table,
      [...all].map(row => ({ ...row, ...changes[table]?.[Number(row['id'])] }))
    ])
  )
}

async function migrate(databaseUrl: string, dump: Buffer) {
  const folder = await scratchFolder()
  const file = join(folder, 'db.sql')
  await writeFile(file, dump)
  return run({ DATABASE_URL: databaseUrl, DATA_DIR: join(folder, 'data') }, file)
}

const textOf = (rows: DumpRows) => [...renderDump(rows)].join('')

async function readAll(sql: Sql, query: string): Promise<unknown[]> {
  const rows = await sql.unsafe(query)
  return rows.map(row => Object.values(row)[0])
}

const at = (seconds: number) => new Date(seconds * 1_000)

/** The times of plays, each of which is not usable. */
const starts: Readonly<Record<number, string | number>> = {
  1: '0000-00-00 00:00:00',
  2: 0,
  3: '9999-12-31 23:59:59',
  4: '1969-12-31 23:59:59',
  5: '2023-13-45 10:00:00',
  6: '99999999999999'
}

test('plays, songs and all else with values that cannot be are named in the report, and not stored', async ({
  databaseUrl,
  sql
}) => {
  const plays = Object.fromEntries(
    Object.entries(starts).map(([id, start]) => [id, { timestamp_start: start }])
  )
  const rows = installationWith({
    song_history: {
      ...plays,
      7: { timestamp_end: '9999-12-31 23:59:59', duration: -5 },
      8: { duration: 1e9, listeners_start: -3, unique_listeners: 1e12 },
      9: { timestamp_end: at(newestPlay - 1e6) }
    },
    station_media: {
      1: { path: '../../etc/passwd' },
      2: { path: '/etc/passwd' },
      3: { path: 'a\0b.mp3' },
      4: { path: 'process:id' },
      5: { length: -5, mtime: -7, uploaded_at: '9999-01-01 00:00:00' },
      6: { length: 1e9, extra_metadata: null },
      7: { length: 100, extra_metadata: { cue_in: 200, fade_in: 3, amplify: -2 } }
    },
    station_playlist_media: { 8: { last_played: '9999-12-31 00:00:00', weight: 1e12 } },
    station_requests: {
      1: { timestamp: '0000-00-00 00:00:00', track_id: 9 },
      2: { ip: "'; drop table requests", track_id: 9 }
    },
    station_queue: {
      12: {
        media_id: 9,
        duration: 1e12,
        autodj_custom_uri: 'process:id',
        timestamp_cued: '0000-00-00 00:00:00'
      }
    },
    station_streamer_broadcasts: {
      4: { timestamp_start: '0000-00-00 00:00:00' },
      5: { recording_path: '../../../etc/passwd', timestamp_end: '9999-12-31 00:00:00' }
    },
    station_streamers: {
      1: { streamer_password: '$argon2id$v=19$m=4194304,t=9,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo' }
    },
    station_schedules: { 9: { start_time: 2_575 } },
    station_playlist_folders: { 2: { path: 'a/../..' } },
    analytics: { 1: { moment: '0000-00-00' }, 2: { station_id: 1, number_avg: 1e20, number_min: -4 } },
    relays: { 4: { base_url: 'javascript:alert(1)' } },
    users: { 2: { email: 'no address' }, 1: { created_at: '9999-01-01 00:00:00' } },
    storage_location: { 1: { storage_quota: -5 } },
    station: { 1: { timezone: 'Mars/Olympus', url: 'javascript:alert(1)', request_delay: -9 } }
  })
  const { code, stdout } = await migrate(databaseUrl, Buffer.from(textOf(rows)))
  expect(code).toBe(0)

  const name = 'Station 1 – Bücher & Töne'
  for (const [id, start] of Object.entries(starts))
    expect(stdout).toContain(`${name}: play ${id}: ${String(start)}\n`)
  for (const line of [
    'plays without a usable start: 6',
    `${name}: play 7: duration -5\n`,
    `${name}: play 7: timestamp_end 9999-12-31 23:59:59\n`,
    `${name}: play 8: duration 1000000000\n`,
    `${name}: play 8: listeners_start -3 becomes 0\n`,
    `${name}: play 8: unique_listeners 1000000000000 becomes 2147483647\n`,
    'is before the start\n',
    '../../etc/passwd: must be a path below the media folder.\n',
    '    /etc/passwd: must be a path below the media folder.\n',
    'a?b.mp3: contains characters that are not allowed.\n',
    'process:id: must be a path, or a URL',
    'Title 5 (1).mp3: length -5\n',
    'Title 5 (1).mp3: mtime -7\n',
    'Title 5 (1).mp3: uploaded_at 9999-01-01 00:00:00\n',
    'Title 6 (1).mp3: length 1000000000\n',
    'Title 7 (1).mp3: cue_in_ms 200000 does not fit the song\n',
    'song 8: last_played 9999-12-31 00:00:00\n',
    'song 8: weight 1000000000000 becomes 2147483647\n',
    `${name}: request 1: 0000-00-00 00:00:00\n`,
    `${name}: request 2: ip '; drop table requests\n`,
    `${name}: queue 12: duration 1000000000000\n`,
    `${name}: queue 12: autodj_custom_uri process:id\n`,
    `${name}: queue 12: timestamp_cued 0000-00-00 00:00:00\n`,
    `${name}: broadcast 4: 0000-00-00 00:00:00\n`,
    `${name}: broadcast 5: recording_path ../../../etc/passwd\n`,
    `${name}: broadcast 5: timestamp_end 9999-12-31 00:00:00\n`,
    'passwords of streamers that must be set anew: 1\n',
    'streamer 1: item 9\n',
    'a/../..\n',
    'number_avg 100000000000000000000 becomes 2147483647\n',
    'number_min -4 becomes 0\n',
    'relay 4: javascript:alert(1)\n',
    'no address: email must be',
    'created_at 9999-01-01 00:00:00\n',
    'storage_quota -5\n',
    'timezone must be a time zone',
    'url must be an address'
  ])
    expect(stdout).toContain(line)

  expect(await readAll(sql, 'select id from song_history order by id')).toEqual([7, 8, 9, 10, 11, 12])
  expect(await readAll(sql, 'select id from song_history where duration_ms = 0 order by id')).toEqual([7, 8])
  expect(
    await readAll(sql, 'select id from song_history where ended_at_ms < started_at_ms or ended_at_ms > 2e12')
  ).toEqual([])
  expect(
    await readAll(
      sql,
      "select path from media where path ~ '(^|/)[.][.](/|$)|^/|^[a-z]+:' and remote_playlist_id is null"
    )
  ).toEqual([])
  expect(await readAll(sql, 'select id from media where duration_ms = 0 and id < 13 order by id')).toEqual([
    5, 6
  ])
  expect(await readAll(sql, 'select operator_cues from media where id = 7')).toEqual([
    ['fade_in_ms', 'amplify_db']
  ])
  expect(await readAll(sql, 'select address from requests order by id')).toEqual([''])
  expect(await readAll(sql, 'select autodj_custom_uri from queue')).toEqual([''])
  expect(await readAll(sql, 'select recording_path from broadcasts')).toEqual([''])
  expect(await readAll(sql, 'select streamer_password from streamers where id = 1')).toEqual([''])
  expect(await readAll(sql, 'select base_url from relays')).toEqual([])
  expect(await readAll(sql, 'select timezone from stations')).toEqual(['UTC'])
})

/** As a client in latin1 sees text that is stored in UTF-8. */
const asLatin1 = (text: string) => decodeWindows1252(Buffer.from(text))

test('text that was encoded twice is decoded and named, and names of files only if all were', async ({
  databaseUrl,
  sql
}) => {
  const rows = installationWith({
    station_media: {
      1: { artist: asLatin1('Beyoncé'), title: 'Déjà vu', path: 'Déjà vu.mp3' },
      2: { title: asLatin1('Дом'), path: `${asLatin1('Sigur Rós')}.mp3` }
    },
    song_history: { 12: { artist: Buffer.from('Motörhead À').toString('latin1'), title: 'Ace' } },
    station_playlists: { 1: { name: asLatin1('Fête – ça') } }
  })
  const { code, stdout } = await migrate(databaseUrl, Buffer.from(textOf(rows)))
  expect(code).toBe(0)
  expect(stdout).toContain('texts that were encoded twice in UTF-8, and were decoded: 4\n')
  for (const line of [
    'station_media 1: artist: Beyoncé\n',
    'station_media 2: title: Дом\n',
    'song_history 12: artist: Motörhead À\n',
    'station_playlists 1: name: Fête – ça\n'
  ])
    expect(stdout).toContain(line)
  expect(
    await readAll(
      sql,
      "select artist || ': ' || title || ': ' || path from media where id in (1, 2) order by id"
    )
  ).toEqual(['Beyoncé: Déjà vu: Déjà vu.mp3', `Artist 2: Дом: ${asLatin1('Sigur Rós')}.mp3`])
  expect(await readAll(sql, 'select artist from song_history where id = 12')).toEqual(['Motörhead À'])
})

test('a database of which everything was encoded twice is taken with the names of its files', async ({
  databaseUrl,
  sql
}) => {
  const rows = installationWith({
    station_media: { 1: { title: asLatin1('Déjà vu'), path: asLatin1('Añejo/Déjà vu.mp3') } },
    station: { 1: { name: asLatin1('Café') } }
  })
  expect(await migrate(databaseUrl, Buffer.from(textOf(rows)))).toMatchObject({ code: 0 })
  expect(await readAll(sql, 'select path from media where id = 1')).toEqual(['Añejo/Déjà vu.mp3'])
  expect(await readAll(sql, 'select name from stations')).toEqual(['Café'])
})

test('a dump in latin1 is refused if it says so, and read as windows-1252 and named otherwise', async ({
  databaseUrl,
  sql
}) => {
  const plain = { name: 'Café – bar', description: '' }
  const rows = installationWith({
    station: { 1: plain },
    station_media: { 1: { artist: 'Beyoncé', title: 'Déjà vu' } },
    song_history: { 12: { artist: 'Motörhead' } }
  })
  // The dash is one of those that latin1 of MariaDB has and ISO 8859-1 lacks.
  const dump = Buffer.from(textOf(rows).replaceAll('–', '\u0096'), 'latin1')
  const declared = Buffer.concat([Buffer.from('/*!40101 SET NAMES latin1 */;\n'), dump])
  expect(await migrate(databaseUrl, declared)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /is in the character set latin1: dump .* --default-character-set=utf8mb4\n$/
    )
  })
  const { code, stdout } = await migrate(databaseUrl, dump)
  expect(code).toBe(0)
  expect(stdout).toContain('rows with text that is not UTF-8, which was read as windows-1252')
  expect(stdout).toMatch(/\n {4}station_media: 1 rows\n/)
  expect(stdout).toMatch(/\n {4}song_history: 1 rows\n/)
  expect(await readAll(sql, 'select artist from media where id = 1')).toEqual(['Beyoncé'])
  expect(await readAll(sql, 'select name from stations')).toEqual(['Café – bar'])
})
