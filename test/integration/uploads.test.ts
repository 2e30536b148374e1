import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { markStationDeleted } from '../../src/engine/station-removal.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { apic, mp3, png, wav } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { serveUploads, uploadOf } from '../support/upload-server.ts'

const song = mp3({ TIT2: 'Aria', TPE1: 'Kimiko Ishizaka' }, 400)

test('a file in Base64 is stored, read and added to a playlist', async ({ sql, redisUrl }) => {
  const { askJson, media, playlistId, songs, leftovers } = await serveUploads(sql, redisUrl)
  const file = song.toString('base64').replaceAll('/', '\\/')
  const body = `{"file":"${file}","path":"ishizaka/aria.mp3","playlists":[${playlistId}],"title":"ignored"}`
  const { status, body: record, headers } = await askJson('POST', '/files', JSON.parse(body))
  expect({ status, record }).toMatchObject({
    status: 200,
    record: { path: 'ishizaka/aria.mp3', title: 'Aria', artist: 'Kimiko Ishizaka', playlists: [playlistId] }
  })
  expect(headers.get('x-ignored-fields')).toBe('title')
  expect((await readFile(join(media, 'ishizaka/aria.mp3'))).equals(song)).toBe(true)
  expect(await songs()).toEqual([{ path: 'ishizaka/aria.mp3', title: 'Aria', size: song.length }])
  expect(await leftovers()).toEqual([])
})

test('what was left out of a file is said in the response, also when its tags are read again', async ({
  sql,
  redisUrl
}) => {
  const { askJson } = await serveUploads(sql, redisUrl)
  const file = mp3({}, 40, [apic(png('x'.repeat(5 * 1024 * 1024)))]).toString('base64')
  const { status, headers } = await askJson('POST', '/files', { file, path: 'a.mp3' })
  expect([status, headers.get('cuewire-notice')]).toEqual([
    200,
    expect.stringMatching(/^Its cover was left out/)
  ])
  const again = await askJson('PUT', '/files/batch', { do: 'reprocess', files: ['a.mp3'] })
  expect(again.body).toMatchObject({
    files: ['a.mp3'],
    errors: [expect.stringMatching(/^a\.mp3: Its cover/)]
  })
  const plain = await askJson('POST', '/files', { file: song.toString('base64'), path: 'a.mp3' })
  expect(plain.headers.get('cuewire-notice')).toBeNull()
})

test('escaped Base64 is read in pieces of any size', async ({ sql, redisUrl }) => {
  const { ask, media } = await serveUploads(sql, redisUrl)
  const file = song.toString('base64').replaceAll('/', '\\/').replaceAll('+', '\\u002b')
  const text = `{"path":"a.mp3","nested":{"file":"x"},"file":"${file}"}`
  async function* pieces() {
    for (let at = 0; at < text.length; at += 997) yield Buffer.from(text.slice(at, at + 997))
  }
  const init = { body: pieces(), duplex: 'half' as const, headers: { 'Content-Type': 'application/json' } }
  const { status } = await ask('POST', '/files', init)
  expect(status).toBe(200)
  expect((await readFile(join(media, 'a.mp3'))).equals(song)).toBe(true)
})

test('a form with a file is stored', async ({ sql, redisUrl }) => {
  const { ask, songs } = await serveUploads(sql, redisUrl)
  const form = new FormData()
  form.set('directory', '/new/')
  form.set('file', new Blob([Buffer.from(wav({ INAM: 'Größe' }))]), 'größe.wav')
  expect(await ask('POST', '/files', { body: form })).toMatchObject({
    status: 200,
    body: { path: 'new/größe.wav' }
  })
  expect(await songs()).toMatchObject([{ path: 'new/größe.wav' }])
})

test('a resumable upload whose connection is cut five times is there once', async ({ sql, redisUrl }) => {
  const { begin, port, key, id, head, songs, patch, media, leftovers } = await serveUploads(sql, redisUrl)
  const content = mp3({ TIT2: 'Long' }, 20_000)
  const { status, headers } = await begin(content.length, { path: 'long.mp3' })
  expect(status).toBe(201)
  const upload = uploadOf(headers)
  for (let cut = 1; cut <= 5; cut++) {
    const offset = Number((await head(upload)).headers.get('upload-offset'))
    await cutOff(port, {
      key,
      path: `/api/station/${id}/files/uploads/${upload}`,
      content,
      offset,
      bytes: 200_000
    })
  }
  await expect.poll(async () => Number((await head(upload)).headers.get('upload-offset'))).toBe(1_000_000)
  const last = await patch(upload, 1_000_000, content.subarray(1_000_000))
  expect(last).toMatchObject({ status: 204 })
  const again = await patch(upload, content.length, new Uint8Array())
  expect(again.headers.get('cuewire-file-id')).toBe(last.headers.get('cuewire-file-id'))
  expect((await head(upload)).headers.get('upload-offset')).toBe(String(content.length))
  expect(await songs()).toEqual([{ path: 'long.mp3', title: 'Long', size: content.length }])
  expect((await readFile(join(media, 'long.mp3'))).equals(content)).toBe(true)
  expect(await leftovers()).toEqual([])
})

interface CutRequest {
  readonly key: string
  readonly path: string
  readonly content: Buffer
  readonly offset: number
  readonly bytes: number
}

/** Sends a part of a PATCH, waits until the server has read it, and closes the connection. */
async function cutOff(port: number, { key, path, content, offset, bytes }: CutRequest): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const head = [
    `PATCH ${path} HTTP/1.1`,
    'Host: localhost',
    `X-API-Key: ${key}`,
    'Tus-Resumable: 1.0.0',
    `Upload-Offset: ${offset}`,
    'Content-Type: application/offset+octet-stream',
    `Content-Length: ${content.length - offset}`
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(content.subarray(offset, offset + bytes))
  const isReceived = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'HEAD',
      headers: { 'X-API-Key': key, 'Tus-Resumable': '1.0.0' }
    })
    return Number(response.headers.get('upload-offset'))
  }
  await expect.poll(isReceived).toBe(offset + bytes)
  await new Promise<void>(resolve => {
    socket.on('close', () => resolve())
    socket.destroy()
  })
  const isFree = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'PATCH',
      headers: {
        'X-API-Key': key,
        'Tus-Resumable': '1.0.0',
        'Upload-Offset': '1',
        'Content-Type': 'application/offset+octet-stream'
      }
    })
    return response.status
  }
  // 423 until the server has seen the end of the connection.
  await expect.poll(isFree).toBe(409)
}

test('an upload whose request is cut off meanwhile is ended', async ({ sql, redisUrl }) => {
  const { begin, ask, base, key, id, leftovers } = await serveUploads(sql, redisUrl)
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const cutting = new AbortController()
  const sending = fetch(`${base}/api/station/${id}/files/uploads/${upload}`, {
    method: 'PATCH',
    body: readable,
    duplex: 'half',
    signal: cutting.signal,
    headers: {
      'X-API-Key': key,
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream'
    }
  }).catch(() => 'cut')
  await writable.getWriter().write(song.subarray(0, 1_000))
  await expect.poll(leftovers).toEqual([upload])
  const ending = ask('DELETE', `/files/uploads/${upload}`, { headers: { 'Tus-Resumable': '1.0.0' } })
  cutting.abort()
  expect(await ending).toMatchObject({ status: 204 })
  expect([await sending, await leftovers()]).toEqual(['cut', []])
})

test('a zip with the name of a song is refused, and nothing is left', async ({ sql, redisUrl }) => {
  const { askJson, begin, patch, head, songs, leftovers, media } = await serveUploads(sql, redisUrl)
  const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(50_000, 7)])
  const refused = await askJson('POST', '/files', { path: 'song.mp3', file: zip.toString('base64') })
  expect(refused).toMatchObject({
    status: 400,
    body: { message: 'file cannot be used: it is not audio.', extra_data: { errors: [{ field: 'file' }] } }
  })
  const upload = uploadOf((await begin(zip.length, { path: 'song.mp3' })).headers)
  expect(await patch(upload, 0, zip)).toMatchObject({ status: 400 })
  expect(await head(upload)).toMatchObject({ status: 400 })
  expect(await songs()).toEqual([])
  expect(await leftovers()).toEqual([])
  expect(existsSync(join(media, 'song.mp3'))).toBe(false)
})

test('a file that is too large is refused before and while it is sent', async ({ sql, redisUrl }) => {
  const { begin, ask, leftovers } = await serveUploads(sql, redisUrl, { UPLOAD_MAX_MB: '1' })
  const refused = (field: string) => ({ status: 413, body: { extra_data: { errors: [{ field }] } } })
  expect(await begin(10_000_000_000, { path: 'a.mp3' })).toMatchObject(refused('Upload-Length'))
  const boundary = 'b'
  async function* form() {
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n`
    )
    for (let piece = 0; piece < 40; piece++) yield Buffer.alloc(100_000)
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const init = {
    body: form(),
    duplex: 'half' as const,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
  }
  expect(await ask('POST', '/files', init)).toMatchObject(refused('file'))
  expect(await leftovers()).toEqual([])
})

test('paths that lead out of the media folder are refused', async ({ sql, redisUrl }) => {
  const { askJson, begin, media, songs, leftovers } = await serveUploads(sql, redisUrl)
  const outside = await openTempFolder()
  onTestFinished(() => outside[Symbol.asyncDispose]())
  await mkdir(media, { recursive: true })
  await symlink(outside.path, join(media, 'link'))
  const file = song.toString('base64')
  const paths = [
    '../a.mp3',
    'a/../../b.mp3',
    '/etc/a.mp3',
    'a\0.mp3',
    '.hidden.mp3',
    'link/a.mp3',
    'a/',
    '',
    'x:y'
  ]
  for (const path of paths)
    expect(await askJson('POST', '/files', { path, file })).toMatchObject({
      status: 400,
      body: { extra_data: { errors: [{ field: 'path' }] } }
    })
  for (const [field, metadata] of [
    ['path', { path: '../a.mp3' }],
    ['path', {}],
    ['directory', { directory: '..', filename: 'a.mp3' }],
    ['filename', { directory: 'a', filename: '.a.mp3' }]
  ] as const)
    expect(await begin(9, metadata)).toMatchObject({
      status: 400,
      body: { extra_data: { errors: [{ field }] } }
    })
  expect(await songs()).toEqual([])
  expect(await leftovers()).toEqual([])
  expect(await readdir(outside.path)).toEqual([])
})

/** Gives a station a local storage location with a quota. */
async function limitStorage(
  sql: Sql,
  stationId: number,
  folder: string,
  quotaBytes: number
): Promise<number> {
  await mkdir(folder, { recursive: true })
  const [location] = await sql<{ id: number }[]>`
    insert into storage_locations (type, adapter, path, storage_quota_bytes)
    values ('station_media', 'local', ${folder}, ${quotaBytes}) returning id`
  await sql`update stations set media_storage_location_id = ${location?.id ?? 0} where id = ${stationId}`
  return location?.id ?? 0
}

test('a name of 255 bytes is stored, whose other form would be longer', async ({ sql, redisUrl }) => {
  const { askJson, songs, media } = await serveUploads(sql, redisUrl)
  const path = `${'\u00E9'.repeat(125)}x.mp3`
  const file = mp3({ TIT2: 'Long' }).toString('base64')
  const { status, body } = await askJson('POST', '/files', { path, file })
  expect({ status, path: body.path }).toEqual({ status: 200, path })
  expect(await readdir(media)).toEqual([path])
  const renamed = await askJson('PUT', '/files/rename', {
    file: path,
    newPath: `${'\u00E8'.repeat(125)}y.mp3`
  })
  expect(renamed.status).toBe(200)
  expect((await songs()).map(each => each.path)).toEqual([`${'\u00E8'.repeat(125)}y.mp3`])
})

test('the quota counts uploads in flight, and holds when it is reached in the middle', async ({
  sql,
  redisUrl
}) => {
  const { begin, patch, id, media, songs, leftovers, askJson } = await serveUploads(sql, redisUrl)
  const location = await limitStorage(sql, id, media, song.length * 2 + 100)
  const first = uploadOf((await begin(song.length, { path: '1.mp3' })).headers)
  const second = uploadOf((await begin(song.length, { path: '2.mp3' })).headers)
  expect(await begin(song.length, { path: '3.mp3' })).toMatchObject({
    status: 507,
    body: { extra_data: { errors: [{ field: 'Upload-Length', code: 'storage_full' }] } }
  })
  expect(await patch(first, 0, song)).toMatchObject({ status: 204 })
  expect(await patch(second, 0, song.subarray(0, 10_000))).toMatchObject({ status: 204 })
  await sql`update storage_locations set storage_quota_bytes = ${song.length + 10} where id = ${location}`
  expect(await patch(second, 10_000, song.subarray(10_000))).toMatchObject({ status: 507 })
  expect(await askJson('POST', '/files', { path: '4.mp3', file: song.toString('base64') })).toMatchObject({
    status: 507
  })
  expect(await songs()).toMatchObject([{ path: '1.mp3' }])
  expect(await readdir(media)).toEqual(['1.mp3'])
  expect(await leftovers()).toEqual([])
  const [used] = await sql`select used_bytes from storage_locations where id = ${location}`
  expect(Number(used?.['used_bytes'])).toBe(song.length)
})

test('a file is replaced without room for both, and uploads at once do not exceed the quota', async ({
  sql,
  redisUrl
}) => {
  const { begin, patch, id, media, ask, askJson } = await serveUploads(sql, redisUrl)
  const quota = song.length + 100
  const location = await limitStorage(sql, id, media, quota)
  const send = async (path: string, content = song) =>
    (await askJson('POST', '/files', { path, file: content.toString('base64') })).status
  expect(await send('a.mp3')).toBe(200)
  expect(await send('a.mp3')).toBe(200)
  const form = new FormData()
  form.set('path', 'a.mp3')
  form.set('file', new Blob([Buffer.from(song)]), 'b.mp3')
  expect(await ask('POST', '/files', { body: form })).toMatchObject({ status: 200 })
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  expect(await patch(upload, 0, song)).toMatchObject({ status: 204 })
  const larger = mp3({ TIT2: 'Larger' }, 500)
  expect(larger.length).toBeGreaterThan(quota)
  expect([await send('a.mp3', larger), await send('b.mp3')]).toEqual([507, 507])
  const used = async () => {
    const [row] = await sql`select used_bytes from storage_locations where id = ${location}`
    return Number(row?.['used_bytes'])
  }
  expect(await used()).toBe(song.length)
  await sql`update storage_locations set storage_quota_bytes = ${quota + song.length} where id = ${location}`
  const sent = await Promise.all(['b.mp3', 'c.mp3', 'd.mp3'].map(path => send(path)))
  expect(sent.filter(status => status === 200)).toHaveLength(1)
  expect(await Promise.all([send('a.mp3'), send('a.mp3')])).toEqual([200, 200])
  expect(await readdir(media)).toHaveLength(2)
  expect(await used()).toBe(2 * song.length)
})

test('an upload that must not replace a song is refused if the path is taken', async ({ sql, redisUrl }) => {
  const { begin, askJson, songs } = await serveUploads(sql, redisUrl)
  await askJson('POST', '/files', { path: 'a.mp3', file: song.toString('base64') })
  const taken = await begin(song.length, { path: 'a.mp3', overwrite: 'false' })
  expect([taken.status, taken.body.message]).toEqual([409, 'path is taken: a song has this path.'])
  expect(await begin(song.length, { path: 'b.mp3', overwrite: 'false' })).toMatchObject({ status: 201 })
  expect(await begin(song.length, { path: 'a.mp3' })).toMatchObject({ status: 201 })
  expect(await songs()).toHaveLength(1)
})

test('uploads to a storage location whose folder is missing are answered with 503', async ({
  sql,
  redisUrl
}) => {
  const { begin, askJson, id, dataDir } = await serveUploads(sql, redisUrl)
  await sql`
    with location as (insert into storage_locations (type, adapter, path)
      values ('station_media', 'local', ${join(dataDir, 'missing')}) returning id)
    update stations set media_storage_location_id = location.id from location where stations.id = ${id}`
  const responses = [
    await begin(song.length, { path: 'a.mp3', overwrite: 'false' }),
    await begin(song.length, { path: 'a.mp3' }),
    await askJson('POST', '/files', { path: 'a.mp3', file: song.toString('base64') })
  ]
  const message = expect.stringContaining('The media storage cannot be used')
  for (const response of responses) expect(response).toMatchObject({ status: 503, body: { message } })
})

test('of two uploads of one path one whole file remains', async ({ sql, redisUrl }) => {
  const { askJson, songs, media } = await serveUploads(sql, redisUrl)
  const other = mp3({ TIT2: 'Other' }, 500)
  const files = [song, other, song, other]
  const sent = await Promise.all(
    files.map(file => askJson('POST', '/files', { path: 'same.mp3', file: file.toString('base64') }))
  )
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const [stored, ...more] = await songs()
  expect(more).toEqual([])
  const bytes = await readFile(join(media, 'same.mp3'))
  expect({ title: stored?.title, size: stored?.size }).toEqual(
    bytes.equals(song) ? { title: 'Aria', size: song.length } : { title: 'Other', size: other.length }
  )
})

test('a station that is deleted ends its uploads', async ({ sql, redisUrl }) => {
  const { begin, patch, id, media, head } = await serveUploads(sql, redisUrl)
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  await patch(upload, 0, song.subarray(0, 1_000))
  await sql.begin(tx => markStationDeleted(tx, id))
  expect(await patch(upload, 1_000, song.subarray(1_000))).toMatchObject({ status: 404 })
  expect(await head(upload)).toMatchObject({ status: 404 })
  expect(existsSync(join(media, 'a.mp3'))).toBe(false)
})

test('a wrong offset, version and type of a piece are refused', async ({ sql, redisUrl }) => {
  const served = await serveUploads(sql, redisUrl)
  /** Every response, also of an error, names the version of the protocol. */
  const withVersion =
    <Parameters extends unknown[], Response extends { headers: Headers }>(
      send: (...parameters: Parameters) => Promise<Response>
    ) =>
    async (...parameters: Parameters) => {
      const response = await send(...parameters)
      expect(response.headers.get('tus-resumable')).toBe('1.0.0')
      return response
    }
  const [ask, begin, patch] = [withVersion(served.ask), withVersion(served.begin), withVersion(served.patch)]
  const upload = uploadOf((await begin(song.length, { filename: 'a.mp3', directory: 'b' })).headers)
  expect(await patch(upload, 5, song)).toMatchObject({
    status: 409,
    body: { extra_data: { errors: [{ field: 'Upload-Offset' }] } }
  })
  const anonymous = { headers: { 'X-API-Key': '' } }
  expect(await ask('PATCH', `/files/uploads/${upload}`, anonymous)).toMatchObject({ status: 403 })
  expect(await ask('PUT', '/files/uploads', anonymous)).toMatchObject({ status: 405 })
  expect(await patch(upload, 0, Buffer.concat([song, song]))).toMatchObject({ status: 413 })
  expect(await ask('PATCH', `/files/uploads/${upload}`, { body: 'x' })).toMatchObject({ status: 412 })
  const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0' }
  expect(await ask('PATCH', `/files/uploads/${upload}`, { body: 'x', headers })).toMatchObject({
    status: 415
  })
  expect(await ask('DELETE', `/files/uploads/${upload}`, { headers })).toMatchObject({ status: 204 })
  expect(await patch(upload, 0, song)).toMatchObject({ status: 404 })
})

test('a file that a record cannot take is refused', async ({ sql, redisUrl }) => {
  const { ask, askJson } = await serveUploads(sql, redisUrl)
  const { body } = await askJson('POST', '/files', { path: 'a.mp3', title: 'A' })
  expect(await askJson('PUT', `/file/${body.id}`, { title: 'B', file: 'QUJD' })).toMatchObject({
    status: 400
  })
  expect(await askJson('POST', '/files', { path: 'b.mp3', file: 1 })).toMatchObject({ status: 400 })
  expect(await askJson('POST', '/files', { path: 'b.mp3', file: '?!' })).toMatchObject({ status: 400 })
  const playlists = [
    ['x', 'playlists must be a list.'],
    [['x'], 'playlists.0 must be a whole number.']
  ]
  for (const [sent, message] of playlists)
    expect(
      await askJson('POST', '/files', { path: 'b.mp3', file: song.toString('base64'), playlists: sent })
    ).toMatchObject({ status: 400, body: { message } })
  const cut = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nxx'
  expect(
    await ask('POST', '/files', { body: cut, headers: { 'Content-Type': 'multipart/form-data; boundary=b' } })
  ).toMatchObject({ status: 400, body: { extra_data: { errors: [{ field: 'file' }] } } })
})
