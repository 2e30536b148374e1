import { chmod, readdir } from 'node:fs/promises'

import { afterAll, beforeAll, describe, expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { type S3Server, startS3 } from '../support/s3.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { serveUploads, uploadOf } from '../support/upload-server.ts'

const song = mp3({ TIT2: 'Aria' }, 400)
let s3: S3Server
let sshd: Sshd

beforeAll(async () => {
  ;[s3, sshd] = await Promise.all([startS3(), startSshd()])
})
afterAll(async () => {
  await s3[Symbol.asyncDispose]()
  await sshd[Symbol.asyncDispose]()
})

const stores = {
  S3: {
    fields: () => ({
      adapter: 's3',
      path: 'media',
      s3Bucket: s3.settings.bucket,
      s3Endpoint: s3.settings.endpoint,
      s3CredentialKey: s3.settings.credentialKey,
      s3CredentialSecret: s3.settings.credentialSecret
    }),
    stop: (sql: Sql) => sql`update storage_locations set s3_endpoint = 'http://127.0.0.1:1'`
  },
  SFTP: {
    fields: () => ({
      adapter: 'sftp',
      path: sshd.folder,
      sftpHost: sshd.host,
      sftpPort: sshd.port,
      sftpUsername: sshd.username,
      sftpPrivateKey: sshd.privateKey
    }),
    stop: (sql: Sql) => sql`update storage_locations set sftp_port = 1`
  }
}

/** A station whose media are in a store. */
async function serveStore(sql: Sql, redisUrl: string, kind: keyof typeof stores) {
  const server = await serveUploads(sql, redisUrl)
  const response = await fetch(`${server.base}/api/admin/storage_locations`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'station_media', ...stores[kind].fields() })
  })
  const location = JSON.parse(await response.text())
  expect(location).toMatchObject({ id: expect.any(Number) })
  await sql`update stations set media_storage_location_id = ${location.id} where id = ${server.id}`
  const used = async () => {
    const [row] = await sql<{ bytes: number }[]>`
      select used_bytes as bytes from storage_locations where id = ${location.id}`
    return Number(row?.bytes)
  }
  const upload = (path: string) => server.askJson('POST', '/files', { path, file: song.toString('base64') })
  return { ...server, used, upload }
}

describe.for(['S3', 'SFTP'] as const)('media in %s storage', kind => {
  test('are uploaded, listed, played in ranges, moved and deleted', async ({ sql, redisUrl }) => {
    const { upload, ask, askJson, base, id, key, leftovers } = await serveStore(sql, redisUrl, kind)
    const { body: record } = await upload('x/ä b? #1 + 2%.mp3')
    expect(record).toMatchObject({ path: 'x/ä b? #1 + 2%.mp3', title: 'Aria' })
    const play = async (range: string) => {
      const response = await fetch(`${base}/api/station/${id}/file/${record.id}/play`, {
        headers: { 'X-API-Key': key, Range: range }
      })
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    expect(await play('bytes=10-19')).toEqual({ status: 206, bytes: song.subarray(10, 20) })
    expect(
      await askJson('PUT', '/files/rename', { file: 'x/ä b? #1 + 2%.mp3', newPath: 'y/ö.mp3' })
    ).toMatchObject({
      status: 200
    })
    expect(await askJson('PUT', `/file/${record.id}`, { path: 'z/1 + 1.mp3' })).toMatchObject({ status: 200 })
    expect((await ask('GET', '/files/list?currentDirectory=z')).body.rows).toMatchObject([
      { path: 'z/1 + 1.mp3', size: song.length }
    ])
    expect((await play('')).bytes.equals(song)).toBe(true)
    await upload('taken.mp3')
    expect(await askJson('PUT', `/file/${record.id}`, { path: 'taken.mp3' })).toMatchObject({ status: 409 })
    expect(await ask('DELETE', `/file/${record.id}`)).toMatchObject({ status: 200 })
    await askJson('POST', '/files', { path: 'z/1 + 1.mp3' })
    const [{ id: row } = { id: 0 }] = await sql<{ id: number }[]>`
      select id from media where path = 'z/1 + 1.mp3'`
    expect(await ask('GET', `/file/${row}/play`)).toMatchObject({ status: 404 })
    expect(await leftovers()).toEqual([])
  })

  test('are loaded by a playout through a link that needs no key', async ({ sql, redisUrl }) => {
    const { upload, askJson, ask, base, id } = await serveStore(sql, redisUrl, kind)
    const { body: record } = await upload('x/ä & b.mp3')
    const { body: made } = await askJson('POST', '/playout-key', {})
    const locate = async (uri: string) => {
      const response = await fetch(`${base}/api/internal/${id}/liquidsoap/cp`, {
        method: 'POST',
        headers: { 'X-Liquidsoap-Api-Key': made.playout_key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ uri })
      })
      return JSON.parse(await response.text())
    }
    const { uri, isTemp } = await locate('media:x/ä & b.mp3')
    expect(isTemp).toBe(false)
    // The address that the playout called, not the public one.
    expect(uri).toMatch(new RegExp(`^${base}/api/internal/${id}/song/${record.id}\\?until=\\d+&signature=`))
    const load = async (address: string) => {
      const response = await fetch(address)
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    expect(await load(uri)).toEqual({ status: 200, bytes: song })
    expect(await load(uri.replace(/(?<=until=)1/, '2'))).toMatchObject({ status: 404 })
    expect(await load(uri.replace(`/song/${record.id}`, `/song/${record.id + 1}`))).toMatchObject({
      status: 404
    })
    expect(await load(uri.slice(0, -1))).toMatchObject({ status: 404 })
    await ask('DELETE', `/file/${record.id}`)
    expect(await load(uri)).toMatchObject({ status: 404 })
    expect(await locate('media:x/ä & b.mp3')).toMatchObject({ code: 404 })
  })

  test('leave nothing behind when the store fails', async ({ sql, redisUrl }) => {
    const { upload, begin, patch, head, ask, songs, leftovers, used } = await serveStore(sql, redisUrl, kind)
    const { body: record } = await upload('here.mp3')
    const before = await used()
    await stores[kind].stop(sql)
    expect(await upload('new.mp3')).toMatchObject({ status: 503 })
    expect(await ask('DELETE', `/file/${record.id}`)).toMatchObject({ status: 503 })
    expect(await songs()).toMatchObject([{ path: 'here.mp3' }])
    expect(await leftovers()).toEqual([])
    expect(await used()).toBe(before)
    const resumable = uploadOf((await begin(song.length, { path: 'later.mp3' })).headers)
    expect(await patch(resumable, 0, song)).toMatchObject({ status: 503 })
    const { port, endpoint } = { port: sshd.port, endpoint: s3.settings.endpoint }
    await sql`update storage_locations set sftp_port = ${port}, s3_endpoint = ${endpoint}`
    expect(await head(resumable)).toMatchObject({ status: 200 })
    expect(await songs()).toMatchObject([{ path: 'here.mp3' }, { path: 'later.mp3' }])
    expect(await leftovers()).toEqual([])
    expect(await used()).toBe(before + song.length)
  })
})

test('a folder of an SFTP server that cannot be written is refused, and nothing is left', async ({
  sql,
  redisUrl
}) => {
  const { upload, songs, leftovers } = await serveStore(sql, redisUrl, 'SFTP')
  const before = await readdir(sshd.folder)
  await chmod(sshd.folder, 0o555)
  try {
    expect((await upload('a.mp3')).status).toBe(503)
  } finally {
    await chmod(sshd.folder, 0o755)
  }
  expect(await songs()).toEqual([])
  expect(await leftovers()).toEqual([])
  expect(await readdir(sshd.folder)).toEqual(before)
})
