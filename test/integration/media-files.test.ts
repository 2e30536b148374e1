import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { serveApi } from '../support/api-server.ts'
import { mp3, png } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'

const song = mp3({ TIT2: 'Aria' }, 400)

/** A station with uploaded songs at these paths. */
async function serveSongs(sql: Parameters<typeof serveApi>[0], redisUrl: string, paths: readonly string[]) {
  const folder = await openTempFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const server = await serveApi(sql, redisUrl, { variables: { DATA_DIR: folder.path } })
  const [{ id, playlistId } = { id: 0, playlistId: 0 }] = await seedStations(sql, { tracks: 0 })
  const key = await server.makeKey(['administer all'])
  const media = join(folder.path, 'stations', String(id), 'media')
  const send = (method: string, path: string, body?: string | Buffer, type = 'application/json') =>
    fetch(`${server.base}/api/station/${id}${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) })
    })
  const ask = async (method: string, path: string, body?: object) => {
    const response = await send(method, path, body && JSON.stringify(body))
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const ids: number[] = []
  for (const path of paths) {
    const { body } = await ask('POST', '/files', { path, file: song.toString('base64') })
    ids.push(body.id)
  }
  return { ...server, id, playlistId, key, media, send, ask, ids }
}

const names = ({ body }: { body: { rows: { path: string; type: string }[] } }) =>
  body.rows.map(({ path, type }) => (type === 'directory' ? `${path}/` : path))

test('a folder is listed with its folders, and searched below', async ({ sql, redisUrl }) => {
  const { ask } = await serveSongs(sql, redisUrl, ['a.mp3', 'x/b.mp3', 'x/y/c.mp3', 'x/y/d.mp3', 'z/e.mp3'])
  expect(await ask('POST', '/files/mkdir', { currentDirectory: 'x', name: 'empty' })).toMatchObject({
    status: 200
  })
  expect(names(await ask('GET', '/files/list'))).toEqual(['x/', 'z/', 'a.mp3'])
  const inner = await ask('GET', '/files/list?currentDirectory=x')
  expect(names(inner)).toEqual(['x/empty/', 'x/y/', 'x/b.mp3'])
  expect(inner.body).toMatchObject({ page: 1, total: 3, total_pages: 1 })
  expect(inner.body.rows[2]).toMatchObject({
    path_short: 'b.mp3',
    size: song.length,
    media: { title: 'Aria' }
  })
  expect(names(await ask('GET', '/files/list?currentDirectory=x&searchPhrase=.mp3&rowCount=2'))).toEqual([
    'x/b.mp3',
    'x/y/c.mp3'
  ])
  expect(names(await ask('GET', '/files/list?filter=no-playlist&current=2&rowCount=4'))).toEqual(['z/e.mp3'])
  expect(await ask('GET', '/files/list?rowCount=1001')).toMatchObject({ status: 400 })
})

test('all folders of a folder are listed', async ({ sql, redisUrl }) => {
  const { ask, id } = await serveSongs(sql, redisUrl, ['a.mp3'])
  await sql`
    insert into media (station_id, unique_id, song_id, path)
    select ${id}, md5('u' || n), md5('s' || n), n || '/song.mp3' from generate_series(10001, 11200) n`
  const last = await ask('GET', '/files/list?current=3&rowCount=600')
  expect([last.body.total, names(last)]).toEqual([1_201, ['a.mp3']])
  const rename = { file: '11200', newPath: 'z' }
  expect(await ask('PUT', '/files/rename', rename)).toMatchObject({ status: 200 })
  const { body } = await ask('GET', '/files/directories')
  expect([body.rows.length, body.rows.at(-1)]).toEqual([1_200, { name: 'z', path: 'z' }])
})

test('songs that play next do so in their order', async ({ sql, redisUrl }) => {
  const { ask, ids } = await serveSongs(sql, redisUrl, ['a.mp3', 'b.mp3', 'c.mp3'])
  const files = ['c.mp3', 'a.mp3', 'b.mp3']
  expect(await ask('PUT', '/files/batch', { do: 'immediate', files })).toMatchObject({ status: 200 })
  const queue = await sql<
    { id: number }[]
  >`select media_id as id from queue where is_manual order by position`
  expect(queue.map(row => row.id)).toEqual(ids)
})

test('songs are found without case, listed without folders, by playlist, and added to one', async ({
  sql,
  redisUrl
}) => {
  const { ask, ids, playlistId } = await serveSongs(sql, redisUrl, ['a.mp3', 'x/b.mp3', 'x/y/c.mp3'])
  await sql`update media set artist = 'Ärzte' where id = ${ids[1] ?? 0}`
  for (const [search, found] of [
    ['ARIA', ['a.mp3', 'x/b.mp3', 'x/y/c.mp3']],
    ['X/Y/C', ['x/y/c.mp3']],
    ['äRZTE', ['x/b.mp3']],
    ['rzte', ['x/b.mp3']],
    ['100%', []]
  ] as const)
    expect([
      search,
      names(await ask('GET', `/files/list?searchPhrase=${encodeURIComponent(search)}`))
    ]).toEqual([search, found])
  const flat = await ask('GET', '/files/list?currentDirectory=x&flat=true')
  expect([flat.body.total, names(flat)]).toEqual([2, ['x/b.mp3', 'x/y/c.mp3']])
  const inPlaylist = async () => names(await ask('GET', `/files/list?playlist=${playlistId}`))
  expect(await inPlaylist()).toEqual([])
  const added = { do: 'add', files: ['a.mp3'], dirs: ['x/y'], playlists: [playlistId] }
  expect(await ask('PUT', '/files/batch', added)).toMatchObject({ body: { success: true, errors: [] } })
  await ask('PUT', '/files/batch', { do: 'add', files: ['a.mp3'], playlists: [] })
  expect(await inPlaylist()).toEqual(['a.mp3', 'x/y/c.mp3'])
  // A page beyond the end has the total as well.
  expect(await ask('GET', '/files/list?flat=true&current=9')).toMatchObject({ body: { total: 3, rows: [] } })
})

test('folders of any size are changed in parts', async ({ sql, redisUrl }) => {
  const { ask, media, playlistId } = await serveSongs(sql, redisUrl, [
    'x/a.mp3',
    'x/b.mp3',
    'x/c.mp3',
    'x2.mp3'
  ])
  const paths = async () =>
    (await sql<{ path: string }[]>`select path from media order by path`).map(({ path }) => path)
  const send = (method: 'rename' | 'batch', body: object) => ask('PUT', `/files/${method}`, body)
  const add = { do: 'add', dirs: ['x'], playlists: [playlistId], limit: 2 }
  expect(await send('batch', { ...add, after: '' })).toMatchObject({
    body: { success: true, files: ['x/a.mp3', 'x/b.mp3'], next: 'x/b.mp3' }
  })
  expect(await send('batch', { ...add, after: 'x/b.mp3' })).toMatchObject({
    body: { success: true, files: ['x/c.mp3'], next: null }
  })
  const rename = { file: 'x', newPath: 'z', limit: 2 }
  expect(await send('rename', { ...rename, after: '' })).toMatchObject({ body: { next: 'x/b.mp3' } })
  expect(await paths()).toEqual(['x/c.mp3', 'x2.mp3', 'z/a.mp3', 'z/b.mp3'])
  expect(await send('rename', { ...rename, after: '' })).toMatchObject({
    status: 409,
    body: { extra_data: { errors: [{ field: 'newPath', code: 'duplicate' }] } }
  })
  // Continued after the response was lost.
  expect(await send('rename', { ...rename, after: 'x' })).toMatchObject({ body: { next: null } })
  expect(await paths()).toEqual(['x2.mp3', 'z/a.mp3', 'z/b.mp3', 'z/c.mp3'])
  expect(existsSync(join(media, 'x'))).toBe(false)
  const remove = { do: 'delete', dirs: ['z'], limit: 2 }
  expect(await send('batch', { ...remove, after: '' })).toMatchObject({ body: { next: 'z/b.mp3' } })
  expect(existsSync(join(media, 'z'))).toBe(true)
  expect(await send('batch', { ...remove, after: 'z/b.mp3' })).toMatchObject({
    body: { success: true, directories: ['z'], next: null }
  })
  expect([await paths(), existsSync(join(media, 'z'))]).toEqual([['x2.mp3'], false])
  for (const [more, field] of [
    [{}, 'limit'],
    [{ after: '', files: ['x2.mp3'] }, 'after'],
    [{ after: '', do: 'queue' }, 'after'],
    [{ after: '', do: 'move', dirs: ['x'], directory: 'x/y' }, 'directory']
  ] as const)
    expect(await send('batch', { ...remove, ...more })).toMatchObject({
      status: 400,
      body: { extra_data: { errors: [{ field }] } }
    })
})

test('a folder that is moved in parts stays in its playlists', async ({ sql, redisUrl }) => {
  const { ask, media, playlistId } = await serveSongs(sql, redisUrl, ['x/a.mp3', 'x/b.mp3', 'x/c.mp3'])
  const listed = async (list: 'folders' | 'order') =>
    (await ask('GET', `/playlist/${playlistId}/${list}`)).body.map(({ path }: { path: string }) => path)
  await ask('PUT', `/playlist/${playlistId}/apply-to`, { directories: ['x'] })
  // A file that is no song prevents the move of the first one.
  await mkdir(join(media, 'y'))
  await writeFile(join(media, 'y/a.mp3'), song)
  expect(await ask('PUT', '/files/rename', { file: 'x', newPath: 'y', limit: 2, after: '' })).toMatchObject({
    status: 409
  })
  expect(await listed('folders')).toEqual(['x'])

  const rename = { file: 'x', newPath: 'z', limit: 2 }
  expect(await ask('PUT', '/files/rename', { ...rename, after: '' })).toMatchObject({
    body: { next: 'x/b.mp3' }
  })
  expect(await listed('folders')).toEqual(['x', 'z'])
  for (const path of ['x/d.mp3', 'z/e.mp3'])
    await ask('POST', '/files', { path, file: song.toString('base64') })
  expect(await listed('order')).toEqual(['z/a.mp3', 'z/b.mp3', 'x/c.mp3', 'x/d.mp3', 'z/e.mp3'])
  expect(await ask('PUT', '/files/rename', { ...rename, after: 'x/b.mp3' })).toMatchObject({
    body: { next: null }
  })
  expect(await listed('folders')).toEqual(['z'])
  expect(await listed('order')).toEqual(['z/a.mp3', 'z/b.mp3', 'z/c.mp3', 'z/d.mp3', 'z/e.mp3'])
})

test('a folder with too many songs for one request is changed in parts only', async ({ sql, redisUrl }) => {
  const { ask, id } = await serveSongs(sql, redisUrl, [])
  await sql`
    insert into media (station_id, unique_id, song_id, path)
    select ${id}, md5('u' || n), md5('s' || n), 'x/' || n || '.mp3' from generate_series(10001, 12001) n`
  const rename = { file: 'x', newPath: 'z' }
  expect(await ask('PUT', '/files/rename', rename)).toMatchObject({
    status: 400,
    body: { extra_data: { errors: [{ field: 'file', code: 'too_many' }] } }
  })
  expect(await ask('PUT', '/files/rename', { ...rename, after: '', limit: 3 })).toMatchObject({
    body: { next: 'x/10003.mp3' }
  })
  const [left] = await sql`select count(*)::integer as count from media where path like 'x/%'`
  expect(left).toEqual({ count: 1_998 })
})

test('a folder that is renamed to its own name, in any normal form, stays', async ({ sql, redisUrl }) => {
  const { ask } = await serveSongs(sql, redisUrl, ['x/a.mp3', '\u00E9/b.mp3'])
  for (const [file, newPath] of [
    ['x', 'x'],
    ['\u00E9', 'e\u0301']
  ])
    expect(await ask('PUT', '/files/rename', { file, newPath })).toMatchObject({ status: 200 })
  const paths = await sql`select path from media order by path`
  expect(paths).toEqual([{ path: 'x/a.mp3' }, { path: '\u00E9/b.mp3' }])
})

test('songs are moved, renamed and deleted with their files', async ({ sql, redisUrl }) => {
  const { ask, media } = await serveSongs(sql, redisUrl, ['a.mp3', 'x/b.mp3', 'x/c.mp3'])
  expect(await ask('PUT', '/files/rename', { file: 'a.mp3', newPath: 'n/a2.mp3' })).toMatchObject({
    status: 200
  })
  expect(await ask('PUT', '/files/rename', { file: 'x/b.mp3', newPath: 'x/c.mp3' })).toMatchObject({
    status: 409
  })
  expect(await ask('PUT', '/files/rename', { file: 'x/b.mp3', newPath: '../c.mp3' })).toMatchObject({
    status: 400
  })
  // Two folders are not merged, and a folder does not replace a file.
  for (const newPath of ['n', 'n/a2.mp3'])
    expect(await ask('PUT', '/files/rename', { file: 'x', newPath })).toMatchObject({ status: 409 })
  expect(await ask('PUT', '/files/rename', { file: 'x', newPath: 'w' })).toMatchObject({ status: 200 })
  expect(existsSync(join(media, 'x'))).toBe(false)
  const moved = await ask('PUT', '/files/batch', {
    do: 'move',
    files: ['n/a2.mp3'],
    dirs: ['w'],
    directory: 't'
  })
  expect(moved.body).toMatchObject({ success: true, errors: [] })
  expect(names(await ask('GET', '/files/list?searchPhrase=mp3'))).toEqual([
    't/a2.mp3',
    't/w/b.mp3',
    't/w/c.mp3'
  ])
  expect((await readFile(join(media, 't/w/b.mp3'))).equals(song)).toBe(true)
  const deleted = await ask('PUT', '/files/batch', {
    do: 'delete',
    files: ['t/a2.mp3', 'no.mp3'],
    dirs: ['t/w', '..', 'none']
  })
  expect(deleted.body).toMatchObject({
    success: false,
    directories: ['t/w'],
    errors: ['no.mp3: Record not found.', '..: Record not found.', 'none: Record not found.']
  })
  expect(existsSync(join(media, 't/a2.mp3'))).toBe(false)
  expect(existsSync(join(media, 't/w'))).toBe(false)
  expect(names(await ask('GET', '/files/list?searchPhrase=mp3'))).toEqual([])
})

test('playlists of several songs are set at once', async ({ sql, redisUrl }) => {
  const { ask, playlistId, ids } = await serveSongs(sql, redisUrl, ['a.mp3', 'x/b.mp3'])
  const given = { do: 'playlist', files: ['a.mp3'], dirs: ['x'], playlists: [playlistId] }
  expect((await ask('PUT', '/files/batch', given)).body).toMatchObject({ success: true })
  for (const id of ids) expect((await ask('GET', `/file/${id}`)).body.playlists).toEqual([playlistId])
  expect(await ask('PUT', '/files/batch', { ...given, playlists: [0] })).toMatchObject({ status: 400 })
  const wanted = { ...given, do: 'add', playlists: [String(playlistId), 'new'] }
  expect(await ask('PUT', '/files/batch', wanted)).toMatchObject({ status: 400 })
  const { body } = await ask('PUT', '/files/batch', { ...wanted, new_playlist_name: 'Fresh' })
  expect(body).toMatchObject({ success: true, record: { name: 'Fresh' } })
  for (const id of ids)
    expect((await ask('GET', `/file/${id}`)).body.playlists).toEqual([playlistId, body.record.id])
})

test('playlists of more songs than one change takes get all of them, in order', async ({ sql, redisUrl }) => {
  const { ask, id, playlistId } = await serveSongs(sql, redisUrl, [])
  await sql`
    insert into media (station_id, unique_id, path, song_id, title, duration_ms)
    select ${id}, 'unique ' || n, 'y/' || lpad(n::text, 3, '0') || '.mp3', md5(n::text), n::text, 1000 from generate_series(1, 250) as n`
  const files = Array.from({ length: 250 }, (_, index) => `y/${String(index + 1).padStart(3, '0')}.mp3`)
  for (const work of ['playlist', 'add']) {
    const { body } = await ask('PUT', '/files/batch', { do: work, files, playlists: [playlistId] })
    expect(body).toMatchObject({ success: true, errors: [] })
    expect(body.files).toEqual(files)
    const rows = await sql<{ title: string }[]>`
      select m.title from playlist_entries e join media m on m.id = e.media_id
      where e.playlist_id = ${playlistId} order by e.position, e.id`
    expect(rows.map(({ title }) => Number(title))).toEqual(
      Array.from({ length: 250 }, (_, index) => index + 1)
    )
  }
  await ask('PUT', '/files/batch', { do: 'playlist', files, playlists: [] })
  expect(await sql`select from playlist_entries where playlist_id = ${playlistId}`).toHaveLength(0)
})

test('tags and cover are read again from the files', async ({ sql, redisUrl }) => {
  const { ask, ids, media } = await serveSongs(sql, redisUrl, ['a.mp3', 'x/b.mp3'])
  const [a, b] = ids
  await ask('PUT', `/file/${a}`, { title: 'Edited', extra_metadata: { cue_in: 1 } })
  await writeFile(join(media, 'x/b.mp3'), 'no music')
  const before = await ask('GET', `/file/${b}`)
  await ask('POST', '/files', { path: 'never/there.mp3', title: 'Demo' })
  const given = { do: 'reprocess', files: ['a.mp3', 'never/there.mp3'], dirs: ['x'] }
  expect((await ask('PUT', '/files/batch', given)).body).toMatchObject({
    success: false,
    files: ['a.mp3'],
    errors: [
      'never/there.mp3: The file is not in the media storage.',
      'x/b.mp3: The file cannot be used: it is not audio.'
    ]
  })
  const { body } = await ask('GET', `/file/${a}`)
  expect(body).toMatchObject({ title: before.body.title, extra_metadata: { cue_in: 1 } })
  expect((await ask('GET', `/file/${b}`)).body).toEqual(before.body)
  await ask('PUT', '/files/batch', { do: 'clear-extra', files: ['a.mp3'] })
  expect((await ask('GET', `/file/${a}`)).body.extra_metadata.cue_in).toBe(null)
})

test('a song is played in ranges and downloaded', async ({ sql, redisUrl }) => {
  const { send, ids, base, id, key, ask } = await serveSongs(sql, redisUrl, ['x/b.mp3'])
  const whole = await send('GET', `/file/${ids[0]}/play`)
  expect(whole.headers.get('content-type')).toBe('audio/mpeg')
  expect(Buffer.from(await whole.arrayBuffer()).equals(song)).toBe(true)
  const range = async (text: string) => {
    const headers = { 'X-API-Key': key, Range: text }
    const response = await fetch(`${base}/api/station/${id}/file/${ids[0]}/play`, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, range: response.headers.get('content-range'), bytes }
  }
  const size = song.length
  expect(await range('bytes=10-19')).toEqual({
    status: 206,
    range: `bytes 10-19/${size}`,
    bytes: song.subarray(10, 20)
  })
  expect(await range('bytes=-5')).toMatchObject({ status: 206, bytes: song.subarray(size - 5) })
  expect(await range(`bytes=${size}-`)).toMatchObject({ status: 416 })
  const file = await send('GET', '/files/download?file=x%2Fb.mp3')
  expect(file.headers.get('content-disposition')).toContain('b.mp3')
  expect(Buffer.from(await file.arrayBuffer()).equals(song)).toBe(true)
  expect(await ask('GET', '/files/download?file=..%2Fb.mp3')).toMatchObject({ status: 404 })
})

test('files outside the media storage are not deleted or sent', async ({ sql, redisUrl }) => {
  const { ask, id } = await serveSongs(sql, redisUrl, [])
  const other = await openTempFolder()
  onTestFinished(() => other[Symbol.asyncDispose]())
  const path = join(other.path, 'imported.mp3')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, song)
  const [media] = await sql<{ id: number }[]>`
    insert into media (station_id, unique_id, path, song_id) values (${id}, 'u', ${path}, ${'0'.repeat(32)}) returning id`
  expect(await ask('GET', `/file/${media?.id}/play`)).toMatchObject({ status: 404 })
  expect(await ask('PUT', '/files/batch', { do: 'delete', files: [path] })).toMatchObject({ status: 200 })
  expect(existsSync(path)).toBe(true)
})

test('a song that is deleted or gets another path takes its file with it', async ({ sql, redisUrl }) => {
  const { ask, ids, media } = await serveSongs(sql, redisUrl, ['a.mp3', 'b.mp3', 'c.mp3'])
  const [a, b] = ids
  const has = (path: string) => existsSync(join(media, path))
  expect(await ask('PUT', `/file/${a}`, { path: 'x/a2.mp3', title: 'New' })).toMatchObject({ status: 200 })
  expect([has('a.mp3'), has('x/a2.mp3')]).toEqual([false, true])
  expect((await ask('GET', `/file/${a}`)).body).toMatchObject({ path: 'x/a2.mp3', title: 'New' })
  const taken = await ask('PUT', `/file/${a}`, { path: 'c.mp3' })
  expect(taken).toMatchObject({ status: 409 })
  const elsewhere = ['https://radio.example.com/a.mp3', '../a.mp3', '.a.mp3', 'b.mp3/a.mp3']
  for (const path of elsewhere)
    expect([path, (await ask('PUT', `/file/${a}`, { path })).body.success]).toEqual([path, false])
  expect(await ask('PUT', `/file/${a}`, { path: 'x/a3.mp3', title: 1 })).toMatchObject({ status: 400 })
  expect((await ask('GET', `/file/${a}`)).body).toMatchObject({ path: 'x/a2.mp3', title: 'New' })
  expect([has('x/a2.mp3'), has('x/a3.mp3'), has('b.mp3'), has('c.mp3')]).toEqual([true, false, true, true])
  expect(await ask('DELETE', `/file/${a}`)).toMatchObject({ status: 200, body: { success: true } })
  expect(await ask('DELETE', `/file/${a}`)).toMatchObject({ status: 404 })
  expect(has('x/a2.mp3')).toBe(false)
  await ask('PUT', '/files/batch', { do: 'queue', files: ['b.mp3'] })
  await sql`update queue set is_sent = true where media_id = ${b ?? 0}`
  expect(await ask('DELETE', `/file/${b}`)).toMatchObject({ status: 409 })
  expect(has('b.mp3')).toBe(true)
})

test('songs without a file in the media storage are only rows', async ({ sql, redisUrl }) => {
  const { ask, media } = await serveSongs(sql, redisUrl, [])
  const created = await ask('POST', '/files', { path: 'never/there.mp3', title: 'Demo' })
  expect(
    await ask('PUT', `/file/${created.body.id}`, { path: 'https://radio.example.com/a.mp3' })
  ).toMatchObject({ status: 200 })
  expect(await ask('PUT', `/file/${created.body.id}`, { path: 'other.mp3' })).toMatchObject({ status: 200 })
  expect(await ask('DELETE', `/file/${created.body.id}`)).toMatchObject({ status: 200 })
  expect(existsSync(join(media, 'never'))).toBe(false)
})

test('a file that another station has as well is neither moved nor deleted', async ({ sql, redisUrl }) => {
  const { ask, id, ids, media } = await serveSongs(sql, redisUrl, ['a.mp3'])
  const [other] = await seedStations(sql, { tracks: 0 })
  await sql`
    with location as (insert into storage_locations (type, adapter, path)
      values ('station_media', 'local', ${media}) returning id)
    update stations set media_storage_location_id = location.id from location
    where stations.id = any(${[id, other?.id ?? 0]}::bigint[])`
  await sql`
    insert into media (station_id, unique_id, path, song_id)
    values (${other?.id ?? 0}, 'u', ${join(media, 'a.mp3')}, ${'0'.repeat(32)})`
  expect(await ask('PUT', `/file/${ids[0]}`, { path: 'b.mp3' })).toMatchObject({ status: 409 })
  expect(await ask('DELETE', `/file/${ids[0]}`)).toMatchObject({ status: 200 })
  expect(existsSync(join(media, 'a.mp3'))).toBe(true)
})

test('the cover of a song is set and removed', async ({ sql, redisUrl }) => {
  const { send, ask, ids } = await serveSongs(sql, redisUrl, ['a.mp3'])
  const path = `/art/${ids[0]}`
  expect((await send('POST', path, png('cover'), 'image/png')).status).toBe(200)
  expect((await ask('GET', `/file/${ids[0]}`)).body.art).not.toContain('generic')
  expect((await send('POST', path, Buffer.from('text'), 'image/png')).status).toBe(400)
  expect((await send('DELETE', path)).status).toBe(200)
  expect((await ask('GET', `/file/${ids[0]}`)).body.art).toContain('generic')
})
