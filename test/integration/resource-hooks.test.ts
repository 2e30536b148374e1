import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'

const codesOf = ({ body }: { body: { extra_data: { errors: { field: string; code: string }[] } } }) =>
  body.extra_data.errors.map(({ field, code }) => `${field} ${code}`)

describe('all problems of a body are returned at once, including those across fields', () => {
  test.for<[what: string, path: string, body: object, problems: string[]]>([
    [
      'storage',
      '/api/admin/storage_locations',
      { type: 'backup', adapter: 's3', sftpPort: 70_000, storageQuota: '5O GB' },
      [
        'sftpPort out_of_range',
        'storageQuota invalid_format',
        's3Bucket required',
        's3CredentialKey required',
        's3CredentialSecret required'
      ]
    ],
    [
      'a web hook',
      'webhooks',
      { type: 'generic', name: 'x'.repeat(101), config: { nope: 1, timeout: 99 } },
      [
        'name too_long',
        'config.nope unknown_key',
        'config.timeout out_of_range',
        'config.webhook_url required'
      ]
    ],
    [
      'a playlist',
      'playlists',
      { name: 'x', weight: 500, source: 'remote_url' },
      ['weight out_of_range', 'remote_url required']
    ],
    ['an SFTP user without a password', 'sftp-users', { username: 'name' }, ['password required']],
    // Hooks do not run for a record without a required field.
    ['an SFTP user', 'sftp-users', { username: 'bad name' }, ['username invalid_format']]
  ])('%s', async ([, path, body, problems], { program }) => {
    const id = await seedStation(program.sql)
    const response = await program.ask('POST', path.startsWith('/') ? path : `/api/station/${id}/${path}`, {
      body
    })
    expect(response.status).toBe(400)
    expect(codesOf(response)).toEqual(problems)
  })

  test('in an update, which changes nothing', async ({ program }) => {
    const id = await seedStation(program.sql)
    const list = `/api/station/${id}/playlist`
    const [playlist] = (await program.ask('GET', `${list}s`)).body
    const response = await program.ask('PUT', `${list}/${playlist.id}`, {
      body: { name: 'changed', weight: 500, source: 'remote_url' }
    })
    expect(codesOf(response)).toEqual(['weight out_of_range', 'remote_url required'])
    expect((await program.ask('GET', `${list}/${playlist.id}`)).body).toEqual(playlist)
  })
})

test('a million invalid elements return a short error, and lists are not parsed beyond their limit', async ({
  program
}) => {
  const id = await seedStation(program.sql)
  const many = (count: number, element: unknown) => Array(count).fill(element)
  const bodies: [method: string, path: string, body: object][] = [
    ['PUT', 'listeners', { total: 1, mounts: many(400_000, 1) }],
    ['POST', 'playlists', { name: 'x', backend_options: many(400_000, 1) }],
    [
      'POST',
      'playlists',
      { name: 'x', schedule_items: [{ start_time: 1, end_time: 2, days: many(400_000, 9) }] }
    ],
    ['POST', 'playlists', { name: 'x', schedule_items: many(100, { days: many(40, 9) }) }]
  ]
  for (const [method, path, body] of bodies) {
    const response = await program.ask(method, `/api/station/${id}/${path}`, { body })
    expect(response.status).toBe(400)
    expect(JSON.stringify(response.body).length).toBeLessThan(50_000)
  }
})

test('an infinite number is refused', async ({ program }) => {
  const id = await seedStation(program.sql)
  const response = await program.ask('POST', `/api/station/${id}/hls_streams`, {
    body: '{"name": "/inf", "frontend_config": [{"key": "a", "value": 1e400}]}'
  })
  expect(codesOf(response)).toEqual(['frontend_config.0.value out_of_range'])
})

test('wrong keys are limited on public paths too', async ({ program }) => {
  const id = await seedStation(program.sql)
  await program.ask('PUT', `/api/admin/station/${id}`, { body: { is_public: false } })
  const guess = (number: number) => `${String(number).padStart(16, '0')}:${'0'.repeat(32)}`
  for (let number = 0; number < 130; number++)
    expect((await program.ask('GET', `/api/nowplaying/${id}`, { key: guess(number) })).status).toBe(404)
  const next = await program.ask('GET', '/api/health', { key: guess(999) })
  expect(next.status).toBe(429)
  expect((await program.ask('GET', `/api/nowplaying/${id}`)).status).toBe(200)
})

test('enabling a playlist fills the queue at once', async ({ program }) => {
  const id = await seedStation(program.sql)
  const [playlist] = (await program.ask('GET', `/api/station/${id}/playlists`)).body
  const path = `/api/station/${id}/playlist/${playlist.id}`
  const queued = async () => (await program.ask('GET', `/api/station/${id}/queue`)).body.length
  await program.ask('PUT', `/api/admin/station/${id}`, { body: { description: 'on air' } })
  expect(await queued()).toBe(3)
  await program.ask('PUT', path, { body: { is_enabled: false } })
  expect(await queued()).toBe(0)
  await program.ask('PUT', path, { body: { is_enabled: true } })
  expect(await queued()).toBe(3)
})

describe('the home of an SFTP user', () => {
  async function homeOf({ ask, sql }: Program, location: object) {
    const id = await seedStation(sql)
    const username = `home${id}`
    await ask('POST', `/api/station/${id}/sftp-users`, { body: { username, password: 'x' } })
    const made = await ask('POST', '/api/admin/storage_locations', {
      body: { type: 'station_media', ...location }
    })
    await ask('PUT', `/api/admin/station/${id}`, { body: { media_storage_location_id: made.body.id } })
    return (await ask('POST', '/api/internal/sftp-auth', { body: { username, password: 'x' } })).body
  }

  test('is a URI if the media are on another machine', async ({ program }) => {
    const sftp = {
      adapter: 'sftp',
      path: '/etc',
      sftpHost: 'files.invalid',
      sftpUsername: 'u',
      sftpPassword: 'p'
    }
    expect(await homeOf(program, sftp)).toMatchObject({ allow: true, home: 'sftp://u@files.invalid/etc' })
    const dropbox = { adapter: 'dropbox', dropboxAuthToken: 't', dropboxAppKey: 'k', path: 'media' }
    expect(await homeOf(program, dropbox)).toMatchObject({ allow: true, home: 'dropbox://k/media' })
  })

  test('is never outside of the allowed folders, despite symbolic links', async ({ program }) => {
    await using folder = await openTempFolder()
    await mkdir(join(folder.path, 'in'))
    await symlink('/etc', join(folder.path, 'out'))
    const local = (name: string) => ({ adapter: 'local', path: join(folder.path, name) })
    expect(await homeOf(program, local('in'))).toMatchObject({ allow: true, home: join(folder.path, 'in') })
    expect(await homeOf(program, local('out'))).toEqual({ allow: false })
  })
})

test('only playlist files are imported', async ({ program }) => {
  const id = await seedStation(program.sql)
  const [playlist] = (await program.ask('GET', `/api/station/${id}/playlists`)).body
  const path = `${program.baseUrl}/api/station/${id}/playlist/${playlist.id}/import`
  const send = async (contentType: string) => {
    const headers = {
      'X-API-Key': '0123456789abcdef:0123456789abcdef0123456789abcdef',
      'Content-Type': contentType
    }
    return (await fetch(path, { method: 'POST', headers, body: '#EXTM3U\nhttps://example.com/a.mp3\n' }))
      .status
  }
  expect(await send('audio/x-mpegurl; charset=utf-8')).toBe(200)
  expect(await send('text/plain')).toBe(200)
  expect(await send('image/png')).toBe(415)
  // A form, which is not complete.
  expect(await send('multipart/form-data; boundary=x')).toBe(400)
})
