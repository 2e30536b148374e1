import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { tusRoutes } from '../../src/api/library/uploads/tus-uploads.ts'
import { finishUpload } from '../../src/library/uploads/finish.ts'
import { sweepUploads } from '../../src/library/uploads/sweep.ts'
import { withUpload } from '../../src/library/uploads/uploads.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { mountVolume } from '../support/small-volume.ts'
import { serveUploads, uploadOf } from '../support/upload-server.ts'

const song = mp3({ TIT2: 'Aria' }, 400)
const { signal } = new AbortController()
const megabyte = 2 ** 20

test('an upload whose process was killed before the commit is finished once its lease expires', async ({
  sql,
  redisUrl
}) => {
  const { begin, dataDir, id, media, services, songs, leftovers, head } = await serveUploads(sql, redisUrl)
  const upload = uploadOf((await begin(song.length, { path: 'x/a.mp3' })).headers)
  await writeFile(join(dataDir, 'uploads', upload), song)
  const killed = withUpload(services, id, upload, held =>
    finishUpload(services, held, { recordAudit: () => Promise.reject(new Error('killed')) })
  )
  await expect(killed).rejects.toThrow('killed')
  await sql`update uploads set leased_until = now() + interval '1 minute', lease = 'killed'`
  expect((await readFile(join(media, 'x/a.mp3'))).equals(song)).toBe(true)
  await sweepUploads(services, signal)
  expect(await songs()).toEqual([])
  await sql`update uploads set leased_until = now() - interval '1 second'`
  expect(await sweepUploads(services, signal)).toBe(1)
  expect(await sweepUploads(services, signal)).toBe(0)
  expect(await songs()).toEqual([{ path: 'x/a.mp3', title: 'Aria', size: song.length }])
  expect((await readFile(join(media, 'x/a.mp3'))).equals(song)).toBe(true)
  expect(await readdir(join(media, 'x'))).toEqual(['a.mp3'])
  expect((await head(upload)).headers.get('cuewire-file-id')).not.toBeNull()
  expect(await leftovers()).toEqual([])
})

test('expired uploads and content without an upload are removed', async ({ sql, redisUrl }) => {
  const { begin, patch, head, dataDir, services, leftovers } = await serveUploads(sql, redisUrl)
  const [expired, current] = await Promise.all(
    ['a.mp3', 'b.mp3'].map(async path => uploadOf((await begin(song.length, { path })).headers))
  )
  for (const upload of [expired, current]) await patch(upload ?? '', 0, song.subarray(0, 100))
  await sql`update uploads set expires_at = now() - interval '1 second' where id = ${expired ?? ''}`
  await writeFile(join(dataDir, 'uploads', '0'.repeat(32)), 'orphan')
  await writeFile(join(dataDir, 'uploads', 'readme.txt'), 'of the operator')
  const transient = (digit: string) => `received-${digit.repeat(32)}`
  for (const digit of ['1', '2']) await writeFile(join(dataDir, 'uploads', transient(digit)), 'half a file')
  const longAgo = new Date(Date.now() - 2 * 3_600_000)
  await utimes(join(dataDir, 'uploads', transient('1')), longAgo, longAgo)
  await sweepUploads(services, signal)
  expect(new Set(await leftovers())).toEqual(new Set([current, 'readme.txt', transient('2')]))
  expect(await head(expired ?? '')).toMatchObject({ status: 404 })
  expect((await head(current ?? '')).headers.get('upload-offset')).toBe('100')
  expect(await patch(current ?? '', 100, song.subarray(100))).toMatchObject({ status: 204 })
})

test('an upload of which nothing was received expires within minutes', async ({ sql, redisUrl }) => {
  const { begin, patch, head, id, services } = await serveUploads(sql, redisUrl)
  const minutesLeft = async (upload: string) => {
    const expires = (await head(upload)).headers.get('upload-expires') ?? ''
    return Math.round((Date.parse(expires) - Date.now()) / 60_000)
  }
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  expect(await minutesLeft(upload)).toBe(15)
  expect(await patch(upload, 5, song.subarray(5))).toMatchObject({ status: 409 })
  expect(await minutesLeft(upload)).toBe(15)
  // While a request sends it, its room remains reserved however long that takes.
  await withUpload(services, id, upload, async () => expect(await minutesLeft(upload)).toBe(24 * 60))
  expect(await minutesLeft(upload)).toBe(15)
  await patch(upload, 0, song.subarray(0, 100))
  expect(await minutesLeft(upload)).toBe(24 * 60)
})

test('an upload whose client disconnects before it gets the address is removed', async ({
  sql,
  redisUrl
}) => {
  const { services, id } = await serveUploads(sql, redisUrl)
  const create = tusRoutes.find(({ method }) => method === 'POST')
  const sendBegin = (isOpen: boolean) =>
    create?.handle(
      {
        method: 'POST',
        path: `/api/station/${id}/files/uploads`,
        params: {},
        query: new URLSearchParams(),
        body: undefined,
        stream: null,
        headers: {
          'tus-resumable': '1.0.0',
          'upload-length': String(song.length),
          'upload-metadata': `path ${Buffer.from('a.mp3').toString('base64')}`
        },
        apiKey: '',
        isOwnPage: false,
        host: '',
        address: '',
        userAgent: '',
        caller: { key: null, station: { id, shortName: 'a' } },
        isOpen: () => isOpen,
        onSettled: () => {}
      },
      services
    )
  const count = async () => (await sql`select from uploads`).length
  await sendBegin(false)
  expect(await count()).toBe(0)
  await sendBegin(true)
  expect(await count()).toBe(1)
})

test('a file that is no song and is being received is not removed', async ({ sql, redisUrl }) => {
  const { ask, services, leftovers } = await serveUploads(sql, redisUrl)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const sending = ask('POST', '/fallback', { body: readable, duplex: 'half' })
  const writer = writable.getWriter()
  await writer.write(song.subarray(0, 100))
  await expect.poll(leftovers).toHaveLength(1)
  await sweepUploads(services, signal)
  await writer.write(song.subarray(100))
  await writer.close()
  expect(await sending).toMatchObject({ status: 200 })
  expect(await leftovers()).toEqual([])
})

test('a full disk of the media folder refuses a file, and nothing is left', async ({
  sql,
  redisUrl,
  skip
}) => {
  await using volume = await mountVolume(1)
  if (volume === null) return skip('volumes cannot be mounted here')
  const server = await serveUploads(sql, redisUrl, { STORAGE_ROOTS: volume.path })
  const { askJson, songs, leftovers, id } = server
  await sql`
    with location as (insert into storage_locations (type, adapter, path)
      values ('station_media', 'local', ${volume.path}) returning id)
    update stations set media_storage_location_id = location.id from location where stations.id = ${id}`
  const long = mp3({ TIT2: 'Long' }, 12_000)
  expect(long.length).toBeGreaterThan(megabyte)
  const refused = await askJson('POST', '/files', { path: 'x/long.mp3', file: long.toString('base64') })
  expect(refused).toMatchObject({ status: 507 })
  expect(await songs()).toEqual([])
  expect(await readdir(join(volume.path, 'x'))).toEqual([])
  expect(await leftovers()).toEqual([])
  const small = await askJson('POST', '/files', { path: 'x/a.mp3', file: song.toString('base64') })
  expect(small).toMatchObject({ status: 200 })
  return undefined
})

test('a disk that becomes full while a file is received ends its upload', async ({ sql, redisUrl, skip }) => {
  await using volume = await mountVolume(70)
  if (volume === null) return skip('volumes cannot be mounted here')
  const { begin, patch, songs } = await serveUploads(sql, redisUrl, { DATA_DIR: volume.path })
  const uploads = join(volume.path, 'uploads')
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  expect(await patch(upload, 0, song.subarray(0, 10_000))).toMatchObject({ status: 204 })
  await mkdir(join(volume.path, 'other'))
  await writeFile(join(volume.path, 'other', 'file'), Buffer.alloc(70 * megabyte)).catch(() => {})
  expect(await patch(upload, 10_000, song.subarray(10_000))).toMatchObject({ status: 507 })
  expect(await begin(song.length, { path: 'b.mp3' })).toMatchObject({ status: 507 })
  expect(existsSync(join(uploads, upload))).toBe(false)
  expect(await songs()).toEqual([])
  return undefined
})

test('a file whose move was interrupted is moved back to where its song expects it', async ({
  sql,
  redisUrl
}) => {
  const { askJson, services, media, id } = await serveUploads(sql, redisUrl)
  for (const path of ['a.mp3', 'b.mp3', 'c.mp3'])
    await askJson('POST', '/files', { path, file: song.toString('base64') })
  // Killed after the file was moved, before the song was; and after both.
  await rename(join(media, 'a.mp3'), join(media, 'a2.mp3'))
  await rename(join(media, 'b.mp3'), join(media, 'b2.mp3'))
  await sql`update media set path = 'b2.mp3' where path = 'b.mp3'`
  // Still in progress.
  await rename(join(media, 'c.mp3'), join(media, 'c2.mp3'))
  await sql`
    insert into file_moves (media_id, station_id, storage_id, from_path, to_path, attempted_at)
    select m.id, ${id}, -${id}::bigint, v.start, v.target, now() - v.ago::interval
    from (values ('a.mp3', 'a.mp3', 'a2.mp3', '1 hour'), ('b2.mp3', 'b.mp3', 'b2.mp3', '1 hour'),
      ('c.mp3', 'c.mp3', 'c2.mp3', '1 minute')) v (path, start, target, ago)
    join media m on m.path = v.path`
  const moving = await askJson('PUT', '/files/rename', { file: 'b2.mp3', newPath: 'c2.mp3' })
  expect(moving).toMatchObject({ status: 409 })
  expect(await sweepUploads(services, signal)).toBe(2)
  expect((await readdir(media)).toSorted()).toEqual(['a.mp3', 'b2.mp3', 'c2.mp3'])
  expect(await sql`select from_path as "from" from file_moves`).toMatchObject([{ from: 'c.mp3' }])
  expect(await askJson('PUT', '/files/rename', { file: 'a.mp3', newPath: 'x/a.mp3' })).toMatchObject({
    status: 200
  })
  expect(await sql`select from file_moves`).toHaveLength(1)
})

test('an upload that cannot be stored is attempted until it expires', async ({ sql, redisUrl }) => {
  const { begin, id, services } = await serveUploads(sql, redisUrl)
  const upload = uploadOf((await begin(song.length, { path: 'a.mp3' })).headers)
  await sql`update uploads set state = 'storing', expires_at = now() + interval '1 hour'`
  const attempt = withUpload(services, id, upload, () => Promise.reject(new Error('the store is broken')))
  await expect(attempt).rejects.toThrow('broken')
  const [row] = await sql`select expires_at <= now() + interval '1 hour' as "isKept" from uploads`
  expect(row).toEqual({ isKept: true })
})
