import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { dispatchBackupCommand } from '../../src/commands/backup/commands.ts'
import { columnNamesOf, stationTables } from '../../src/commands/backup/station-tables.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { commandRunner } from '../support/command.ts'
import { editArchive, type EditedArchive, setColumn } from '../support/edited-archive.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const run = commandRunner('src/commands/backup/main.ts', call =>
  dispatchBackupCommand(call, AbortSignal.timeout(120_000))
)

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const page = Buffer.from('<script>alert(1)</script>')

/** A station with rows in all tables that hold something to attack. Returns its exported file. */
async function exportStation(sql: Sql, databaseUrl: string, folder: string): Promise<string> {
  const id = await seedStation(sql, { tracks: 3 })
  await sql`update stations set short_name = 'source' where id = ${id}`
  await sql`update media set path = replace(path, ':', '/') where station_id = ${id}`
  await sql`insert into artwork (hash, content_type, bytes) values (${sha256(png)}, 'image/png', ${png})`
  await sql`update media set artwork_hash = ${sha256(png)}, operator_cues = '{cue_in_ms}', cue_in_ms = 5 where station_id = ${id}`
  await sql`
    insert into streamers (station_id, streamer_username, streamer_password, artwork, artwork_type, artwork_hash)
    values (${id}, 'wren', '', ${png}, 'image/png', ${sha256(png)})`
  const config = [{ key: 'webhook_url', value: 'https://example.com/hook' }]
  await sql`
    insert into webhooks (station_id, name, type, config) values (${id}, 'hook', 'generic', ${sql.json(config)})`
  await sql`insert into remotes (station_id, name, url) values (${id}, 'relay', 'https://example.com/live')`
  const [field] = await sql<{ id: number }[]>`
    insert into custom_fields (name, short_name) values ('Mood', 'mood') returning id`
  await sql`
    insert into media_custom_fields (media_id, field_id, value)
    select id, ${field?.id ?? 0}, 'calm' from media where station_id = ${id}`
  await sql`
    insert into song_history (station_id, media_id, song_id, started_at_ms, ended_at_ms)
    select station_id, id, song_id, 1700000000000 + id, 1700000000500 + id from media where station_id = ${id}`
  await sql`
    insert into playlist_folders (playlist_id, path) select id, 'Jazz' from playlists where station_id = ${id}`
  await sql`insert into listener_minutes (station_id, minute, total, "unique", most, fewest) values (${id}, 9, 1, 1, 1, 1)`
  const song = join(folder, 'stations', String(id), 'media', 'song.mp3')
  await mkdir(join(song, '..'), { recursive: true })
  await writeFile(song, 'audio')
  const file = join(folder, 'station.tar.gz')
  expect(
    await run({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, 'export-station', '--media', 'source', file)
  ).toMatchObject({ code: 0 })
  // So that the import has to create them.
  await sql`delete from media_custom_fields`
  await sql`delete from custom_fields`
  await sql`update media set artwork_hash = null`
  await sql`delete from artwork`
  return file
}

/** What an import may leave behind. */
async function readTraces(sql: Sql, folder: string) {
  const [counts] = await sql`
    select (select count(*) from stations) as stations, (select count(*) from media) as media,
      (select count(*) from artwork) as artwork, (select count(*) from custom_fields) as fields`
  return { ...counts, folders: (await readdir(join(folder, 'stations'))).toSorted() }
}

const set =
  (table: string, column: string, value: string) =>
  (archive: EditedArchive): void =>
    setColumn(archive, table, column, value)

const addFile =
  (name: string, more: object = {}) =>
  ({ entries }: EditedArchive): void =>
    void entries.push({ header: { name, ...more }, content: Buffer.from('type' in more ? '' : 'evil') })

const hex = (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`
// COPY reads a backslash as an escape.
const setHook = (config: object[]) =>
  set('webhooks', 'config', JSON.stringify(config).replaceAll('\\', '\\\\'))

const refused: readonly (readonly [name: string, edit: (archive: EditedArchive) => void, problem: string])[] =
  [
    [
      'a script as website',
      set('stations', 'url', 'javascript:alert(1)'),
      'stations.url of row 1 must be an address'
    ],
    [
      'an unknown time zone',
      set('stations', 'timezone', 'Mars/Olympus'),
      'stations.timezone of row 1 must be a time zone'
    ],
    ['a time zone as offset', set('stations', 'timezone', '+01:00'), 'stations.timezone of row 1'],
    ['a name without text', set('stations', 'name', ''), 'stations.name of row 1 must not be empty'],
    ['U+FFFD', set('stations', 'name', 'a\uFFFDb'), 'stations.name of row 1 contains U+FFFD'],
    ['a NUL', set('stations', 'name', 'a\0b'), 'the rows of the table stations are not in the text format'],
    ['a NUL in JSON', setHook([{ key: 'webhook_url\0', value: 'x' }]), 'webhooks.config is not accepted'],
    [
      'a long text',
      set('stations', 'description', 'x'.repeat(2_001)),
      'stations.description of row 1 must have at most'
    ],
    ['NaN', set('stations', 'crossfade', 'NaN'), 'stations.crossfade of row 1 must be'],
    ['infinity', set('stations', 'crossfade', 'Infinity'), 'stations.crossfade of row 1 must be'],
    [
      'a huge number',
      set('stations', 'queue_length', '99999999999999999999'),
      'stations.queue_length is not accepted'
    ],
    [
      'a word as number',
      set('stations', 'queue_length', 'many'),
      'stations.queue_length is not accepted: invalid input'
    ],
    [
      'a number out of range',
      set('stations', 'history_length', '51'),
      'stations.history_length of row 1 must be from 0 to 50'
    ],
    [
      'a fallback elsewhere',
      set('stations', 'fallback_path', '../../1/config/fallback.mp3'),
      'stations.fallback_path of row 1'
    ],
    [
      'an intro elsewhere',
      set('hls_streams', 'intro_path', '/etc/passwd'),
      'hls_streams.intro_path of row 1'
    ],
    ['a mount with ..', set('hls_streams', 'name', '/../admin'), 'hls_streams.name of row 1 must be a path'],
    [
      'a private relay',
      set('hls_streams', 'relay_url', 'http://169.254.169.254/'),
      'hls_streams.relay_url of row 1 must not lead to a private'
    ],
    ['a pass that overflows', set('playlists', 'pass', '9223372036854775807'), 'playlists.pass of row 1'],
    ['an impossible weight', set('playlists', 'weight', '-3'), 'playlists.weight of row 1'],
    ['an unknown option', set('playlists', 'backend_options', 'shell'), 'playlists.backend_options of row 1'],
    [
      'an impossible time',
      set('playlists', 'schedule_items', '[{"id":1,"start_time":2575,"end_time":0}]'),
      'playlists.schedule_items of row 1'
    ],
    [
      'a remote playlist on this machine',
      archive => {
        setColumn(archive, 'playlists', 'source', 'remote_url')
        setColumn(archive, 'playlists', 'remote_url', 'http://127.0.0.1/')
      },
      'playlists.remote_url of row 1 must not lead to a private'
    ],
    [
      'a remote playlist that is a command',
      archive => {
        setColumn(archive, 'playlists', 'source', 'remote_url')
        setColumn(archive, 'playlists', 'remote_url', 'file:///etc/passwd')
      },
      'playlists.remote_url of row 1 must be an address'
    ],
    [
      'a song of another station',
      set('media', 'path', '/data/stations/1/media/a.mp3'),
      'media.path of row 1 must be a path below'
    ],
    [
      'a song above its folder',
      set('media', 'path', 'a/../../b.mp3'),
      'media.path of row 1 must be a path below'
    ],
    [
      'a song that is a command',
      set('media', 'path', 'process:id'),
      'media.path of row 1 must be a path, or a URL'
    ],
    ['a negative length', set('media', 'duration_ms', '-5'), 'media.duration_ms of row 1 must be from 0'],
    ['a gain beyond all', set('media', 'amplify_db', '900'), 'media.amplify_db of row 1'],
    ['an id that is no id', set('media', 'unique_id', '../x'), 'media.unique_id of row 1'],
    ['a damaged list', set('media', 'artists', '{a'), 'media.artists is not accepted: malformed array'],
    [
      'a folder above the library',
      set('playlist_folders', 'path', '../..'),
      'playlist_folders.path of row 1'
    ],
    ['a page as cover', set('artwork', 'bytes', hex(page)), 'artwork.bytes of row 1 is not a JPEG'],
    [
      'the cover of others under their hash',
      set('artwork', 'hash', 'ab'.repeat(32)),
      'artwork.hash of row 1 is not the SHA-256 of its picture'
    ],
    [
      'a page as picture of a streamer',
      set('streamers', 'artwork', hex(page)),
      'streamers.artwork of row 1 is not a JPEG'
    ],
    [
      'a password as text',
      set('streamers', 'streamer_password', 'hush'),
      'streamers.streamer_password of row 1'
    ],
    [
      'a hash that takes all memory',
      set('streamers', 'streamer_password', '$argon2id$v=19$m=4194304,t=9,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo'),
      'streamers.streamer_password of row 1'
    ],
    [
      'an unknown type of web hook',
      set('webhooks', 'type', 'shell'),
      'webhooks.type of row 1 must be one of'
    ],
    [
      'a private web hook',
      setHook([{ key: 'webhook_url', value: 'http://10.0.0.1/' }]),
      'webhooks.config of row 1 must not lead to a private'
    ],
    [
      'an unknown setting',
      setHook([{ key: 'shell', value: 'id' }]),
      'webhooks.config of row 1 has the unknown setting shell'
    ],
    [
      'a custom field of JavaScript',
      set('custom_fields', 'short_name', 'constructor'),
      'custom_fields.short_name of row 1 cannot be used'
    ],
    [
      'a play of the year 9999',
      set('song_history', 'started_at_ms', '253402300799000'),
      'song_history.started_at_ms of row 1 must not be in the future'
    ],
    [
      'a play that has not ended',
      set('song_history', 'ended_at_ms', '\\N'),
      'song_history.ended_at_ms of row 1'
    ],
    [
      'a play that ends before it starts',
      set('song_history', 'ended_at_ms', '5'),
      'song_history.started_at_ms, ended_at_ms is not accepted'
    ],
    ['negative counts', set('listener_minutes', 'total', '-1'), 'listener_minutes.total of row 1'],
    [
      'rows of another station',
      set('hls_streams', 'station_id', '999'),
      'hls_streams.station_id is not accepted'
    ],
    [
      'songs that are not there',
      set('media_custom_fields', 'media_id', '999'),
      'media_custom_fields.media_id is not accepted'
    ],
    ['the same path twice', set('media', 'path', 'same.mp3'), 'media.station_id, path is not accepted'],
    ['the same id twice', set('media', 'id', '7'), 'media.id is not accepted'],
    [
      'two stations',
      ({ rows }) => rows.get('stations')?.push(rows.get('stations')?.[0] ?? []),
      'the file has 2 stations'
    ],
    ['no station', ({ rows }) => rows.set('stations', []), 'the file has 0 stations'],
    [
      'too few values',
      ({ rows }) => rows.set('media', [['1']]),
      'the rows of the table media are not in the text format'
    ],
    ['a file of another station', addFile('data/stations/1/media/x.mp3'), 'does not belong to it'],
    ['a file of a storage location', addFile('storage/1/x.mp3'), 'does not belong to it'],
    ['a file elsewhere', addFile('absolute/etc/cron.d/x'), 'does not belong to it'],
    ['a file above its folder', addFile('data/media/../../../x'), 'is no path of a file'],
    ['a file with a long name', addFile(`data/media/${'x'.repeat(256)}`), 'is no path of a file'],
    [
      'a symbolic link',
      addFile('data/media/link', { type: 'symlink', linkname: '/etc/passwd' }),
      'is a link or a device'
    ],
    [
      'a hard link',
      addFile('data/media/link', { type: 'link', linkname: '/etc/passwd' }),
      'is a link or a device'
    ],
    ['a device', addFile('data/media/zero', { type: 'character-device' }), 'is a link or a device']
  ]

test('a station whose file was changed is refused in one line, and nothing is left of it', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  const file = await exportStation(sql, databaseUrl, folder)
  const before = await readTraces(sql, folder)
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder }
  const cases = refused.filter((_, index) => isDeep || index % 12 === 0)
  for (const [name, edit, problem] of cases) {
    const edited = await editArchive(file, join(folder, 'edited.tar.gz'), edit)
    const result = await run(env, 'import-station', '--short-name', 'taken_over', edited)
    // The lines before are the progress.
    const [last = ''] = result.stderr.trimEnd().split('\n').slice(-1)
    expect([name, result.code, last]).toEqual([name, 1, expect.stringContaining(problem)])
    expect(result.stderr).not.toMatch(/\n +at /)
    expect([name, await readTraces(sql, folder)]).toEqual([name, before])
  }
}, 300_000)

test('columns and tables that exports do not have are ignored by name, and what is stored is clean', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  const file = await exportStation(sql, databaseUrl, folder)
  const [location] = await sql<{ id: number }[]>`
    insert into storage_locations (type, adapter, path) values ('station_media', 'local', '/srv/other') returning id`
  const edited = await editArchive(file, join(folder, 'edited.tar.gz'), archive => {
    setColumn(archive, 'stations', 'media_storage_location_id', String(location?.id))
    setColumn(archive, 'stations', 'deleted_at', '2020-01-01')
    setColumn(archive, 'stations', 'source_password', 'plain')
    setColumn(archive, 'artwork', 'content_type', 'text/html')
    setColumn(archive, 'streamers', 'artwork_type', 'text/html')
    setColumn(archive, 'media', 'title', ' A\uFFFDria\u0007 ')
    setColumn(
      archive,
      'webhooks',
      'config',
      JSON.stringify([
        { key: 'webhook_url', value: 'https://example.com/hook' },
        { key: 'basic_auth_password', value: 'plain' }
      ])
    )
    archive.header.tables.push({ name: 'users', columns: ['email'] })
    archive.rows.set('users', [['evil@example.com']])
  })
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder }
  const result = await run(env, 'import-station', '--short-name', 'taken_over', edited)
  expect(result).toMatchObject({ code: 0 })
  expect(result.stdout).toContain(
    'Ignored, because exports do not have them: stations.media_storage_location_id, stations.deleted_at, stations.source_password, users.'
  )
  const [station] = await sql`
    select id, media_storage_location_id as location, deleted_at, source_password from stations where short_name = 'taken_over'`
  expect(station).toMatchObject({ location: null, deleted_at: null, source_password: '' })
  const id = Number(station?.['id'])
  expect([...(await sql`select content_type from artwork`)]).toEqual([{ content_type: 'image/png' }])
  expect([...(await sql`select artwork_type, artwork_hash from streamers where station_id = ${id}`)]).toEqual(
    [{ artwork_type: 'image/png', artwork_hash: sha256(png) }]
  )
  expect([...(await sql`select distinct title from media where station_id = ${id}`)]).toEqual([
    { title: 'Aria' }
  ])
  expect([...(await sql`select config, is_enabled from webhooks where station_id = ${id}`)]).toEqual([
    {
      config: [
        { key: 'webhook_url', value: 'https://example.com/hook' },
        { key: 'basic_auth_password', value: '' }
      ],
      is_enabled: false
    }
  ])
  expect([...(await sql`select from users`)]).toHaveLength(0)
  expect(await readFile(join(folder, 'stations', String(id), 'media', 'song.mp3'), 'utf8')).toBe('audio')
})

test('a file that cannot be written leaves neither a station nor other files', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  const file = await exportStation(sql, databaseUrl, folder)
  // The second file needs a folder that the first one takes the name of.
  const edited = await editArchive(file, join(folder, 'edited.tar.gz'), archive => {
    addFile('data/media/name')(archive)
    addFile('data/media/name/below.mp3')(archive)
  })
  const before = await readTraces(sql, folder)
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder }
  expect(await run(env, 'import-station', '--short-name', 'taken_over', edited)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/below\.mp3 cannot be written \(E\w+\)\n$/)
  })
  expect(await readTraces(sql, folder)).toEqual(before)
})

test('every column of an exported table is exported with rules for its values, or named as left out', async ({
  sql
}) => {
  const columns = await sql<{ table: string; name: string }[]>`
    select c.relname as table, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relname = any(${stationTables.map(({ name }) => name)}::text[])
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''`
  for (const table of stationTables)
    expect([
      table.name,
      columns
        .filter(each => each.table === table.name)
        .map(({ name }) => name)
        .toSorted()
    ]).toEqual([table.name, [...columnNamesOf(table), ...(table.without ?? [])].toSorted()])
})

test('a picture is served with the type of its bytes, without scripts, or not at all', async ({
  program
}) => {
  const { sql } = program
  const ask = (path: string) => askPlainly(`${program.baseUrl}/api/station/${path}`)
  const covers = [png, page].map(bytes => ({ bytes, hash: sha256(bytes), content_type: 'text/html' }))
  const [id, songs, streamers] = await sql.begin(async tx => {
    const stationId = await seedStation(tx, { tracks: 2 })
    await tx`insert into artwork ${tx(covers)} on conflict (hash) do update set content_type = excluded.content_type`
    await tx`
      update media set artwork_hash = case id when (select min(id) from media where station_id = ${stationId})
        then ${covers[0]?.hash ?? ''} else ${covers[1]?.hash ?? ''} end
      where station_id = ${stationId}`
    const media = await tx<{ uniqueId: string }[]>`
      select unique_id as "uniqueId" from media where station_id = ${stationId} order by id`
    const people = await tx<{ id: number }[]>`
      insert into streamers (station_id, streamer_username, streamer_password, artwork, artwork_type, artwork_hash)
      values (${stationId}, 'a', '', ${png}, 'text/html', 'x'), (${stationId}, 'b', '', ${page}, 'text/html', 'x')
      returning id`
    return [stationId, media, people] as const
  })
  await waitFor(async () => (await ask(`${id}/art/${songs[0]?.uniqueId}.jpg`)).status === 200, {
    deadlineMs: 15_000,
    what: 'the station to be published'
  })
  const paths = [
    [`${id}/art/${songs[0]?.uniqueId}.jpg`, `${id}/art/${songs[1]?.uniqueId}.jpg`],
    [`${id}/streamer/${streamers[0]?.id}/art`, `${id}/streamer/${streamers[1]?.id}/art`]
  ] as const
  for (const [picture, script] of paths) {
    const shown = await ask(picture)
    expect(shown.status).toBe(200)
    expect(shown.headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/)
    })
    expect((await ask(script)).status).toBe(302)
  }
})
