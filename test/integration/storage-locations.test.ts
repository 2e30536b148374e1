import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { startS3 } from '../support/s3.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const list = '/api/admin/storage_locations'
const one = (id: number) => `/api/admin/storage_location/${id}`
const local = (path: string) => ({ type: 'station_media', adapter: 'local', path })
const s3 = {
  type: 'backup',
  adapter: 's3',
  s3Bucket: 'radio',
  s3CredentialKey: 'key',
  s3CredentialSecret: 'the secret of the house'
}

describe('a local storage location', () => {
  test('reports its usage after it was measured', async ({ program }) => {
    await using folder = await openTempFolder()
    const path = join(folder.path, 'media')
    await mkdir(join(path, 'deep'), { recursive: true })
    await writeFile(join(path, 'a.mp3'), Buffer.alloc(1500))
    await writeFile(join(path, 'deep', 'b.mp3'), Buffer.alloc(36))
    const { body, status } = await program.ask('POST', list, {
      body: { ...local(`${path}//./x/..`), storageQuota: '2 K' }
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      path,
      uri: path,
      stations: [],
      storageQuota: '2.0 KB',
      storageQuotaBytes: '2048'
    })
    const counted = await waitFor(
      async () => {
        const read = await program.ask('GET', one(body.id))
        return read.body.storageUsedBytes === '1536' && read.body
      },
      { deadlineMs: 10_000, what: 'the measurement' }
    )
    expect(counted).toMatchObject({
      storageUsed: '1.5 KB',
      storageAvailable: '2.0 KB',
      storageAvailableBytes: '2048',
      storageUsedPercent: '75',
      isFull: 'false',
      links: { self: expect.stringContaining(one(body.id)) }
    })
  })

  test('that is nearly full raises one alert', async ({ program }) => {
    await using folder = await openTempFolder()
    await writeFile(join(folder.path, 'a.mp3'), Buffer.alloc(950))
    const { body } = await program.ask('POST', list, {
      body: { ...local(folder.path), storageQuotaBytes: '1000' }
    })
    const findAlerts = async () => {
      const { notifications } = (await program.ask('GET', '/api/v1/main/notifications?source=storage')).body
      return notifications.filter(({ title }: { title: string }) => title.includes(folder.path))
    }
    await waitFor(async () => (await findAlerts()).length > 0, {
      deadlineMs: 10_000,
      what: 'the notification'
    })
    const isMeasured = async () => {
      const [row] = await program.sql<{ isLater: boolean }[]>`
        select measure_at between now() and now() + interval '5.9 minutes' as "isLater"
        from storage_locations where id = ${body.id}`
      return row?.isLater ?? false
    }
    await program.sql`update storage_locations set measure_at = now() where id = ${body.id}`
    await waitFor(isMeasured, { deadlineMs: 10_000, what: 'the second measurement' })
    expect(await findAlerts()).toMatchObject([
      {
        type: 'warning',
        title: `Storage is 95 % full: ${folder.path}`,
        body: 'It contains 950.0 B of 1000.0 B.'
      }
    ])
  })

  test.for(['/etc', '/srv/../etc', 'srv/media', ''])('is refused at %j', async (path, { program }) => {
    const { status, body } = await program.ask('POST', list, { body: local(path) })
    expect(status).toBe(400)
    expect(body.extra_data.errors).toMatchObject([{ field: 'path' }])
  })

  test('is unique per type', async ({ program }) => {
    await program.ask('POST', list, { body: local('/srv/one-place') })
    const again = await program.ask('POST', list, { body: local('/srv//one-place/') })
    expect(again.status).toBe(409)
    expect(again.body.extra_data.errors).toMatchObject([{ field: 'path', code: 'duplicate' }])
    const other = await program.ask('POST', list, { body: { ...local('/srv/one-place'), type: 'backup' } })
    expect(other.status).toBe(200)
  })

  test('that a station uses lists it and cannot be deleted', async ({ program }) => {
    const stationId = await seedStation(program.sql)
    const { body } = await program.ask('POST', list, { body: local('/srv/in-use') })
    await program.sql`update stations set media_storage_location_id = ${body.id} where id = ${stationId}`
    const [{ name } = { name: '' }] = await program.sql<{ name: string }[]>`
      select name from stations where id = ${stationId}`
    expect((await program.ask('GET', one(body.id))).body.stations).toEqual([name])
    const refused = await program.ask('DELETE', one(body.id))
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain(name)
    expect((await program.ask('GET', one(body.id))).status).toBe(200)
    await program.sql`update stations set media_storage_location_id = null where id = ${stationId}`
    expect((await program.ask('DELETE', one(body.id))).status).toBe(200)
  })
})

describe('the quota', () => {
  test.for([
    ['text alone', { storageQuota: '1.5gb' }, '1610612736'],
    ['bytes alone', { storageQuotaBytes: '5000' }, '5000'],
    ['bytes before text', { storageQuota: '1 GB', storageQuotaBytes: '5000' }, '5000'],
    ['text beside empty bytes', { storageQuota: '1 GB', storageQuotaBytes: '' }, '1073741824'],
    ['zero', { storageQuota: '0' }, '']
  ] as const)('is taken from %s at creation', async ([, fields, expected], { program }) => {
    const { body } = await program.ask('POST', list, {
      body: { ...local(`/srv/quota-${Math.random().toString(36).slice(2)}`), ...fields }
    })
    expect(body.storageQuotaBytes).toBe(expected)
    await program.ask('DELETE', one(body.id))
  })

  test('of an update is the field that differs from the stored value', async ({ program }) => {
    const made = await program.ask('POST', list, {
      body: { ...local('/srv/quota-put'), storageQuotaBytes: '5000' }
    })
    const path = one(made.body.id)
    const put = async (fields: object) => {
      await program.ask('PUT', path, { body: { ...(await program.ask('GET', path)).body, ...fields } })
      return (await program.ask('GET', path)).body.storageQuotaBytes
    }
    expect(await put({})).toBe('5000')
    expect(await put({ storageQuota: '1 MB' })).toBe('1048576')
    expect(await put({ storageQuotaBytes: '7' })).toBe('7')
    expect(await put({ storageQuotaBytes: '' })).toBe('')
    expect(await put({ storageQuota: '2 MB', storageQuotaBytes: '9' })).toBe('9')
  })

  test.for(['-1', '5O GB', '1,5 GB', '9223372036854775808'])(
    'is not %j',
    async (storageQuota, { program }) => {
      const { body, status } = await program.ask('POST', list, {
        body: { ...local('/srv/quota-bad'), storageQuota }
      })
      expect(status).toBe(400)
      expect(body.extra_data.errors).toMatchObject([{ field: 'storageQuota' }])
    }
  )
})

describe('secrets of a storage location', () => {
  test('are not returned, and kept until another value or null is sent', async ({ program }) => {
    const { body } = await program.ask('POST', list, { body: { ...s3, s3Bucket: 'kept' } })
    expect(body).toMatchObject({ s3CredentialKey: 'key', s3CredentialSecret: '', uri: 's3://kept' })
    const stored = async () => {
      const [row] = await program.sql<{ secret: string }[]>`
        select s3_credential_secret as secret from storage_locations where id = ${body.id}`
      return row?.secret ?? ''
    }
    const sealed = await stored()
    expect(sealed).toMatch(/^v1\./)
    await program.ask('PUT', one(body.id), { body: { ...body, s3Region: 'eu' } })
    expect(await stored()).toBe(sealed)
    const cleared = await program.ask('PUT', one(body.id), { body: { s3CredentialSecret: null } })
    expect(cleared.body.extra_data.errors).toMatchObject([{ field: 's3CredentialSecret', code: 'required' }])
    await program.ask('PUT', one(body.id), { body: { s3CredentialSecret: 'another' } })
    expect(await stored()).not.toBe(sealed)
    const audit =
      await program.sql`select fields from audit_log where record = 'StorageLocation' order by id desc limit 1`
    expect(audit[0]?.['fields']).toEqual(['s3CredentialSecret'])
  })

  test('are required by the adapter', async ({ program }) => {
    const fields = async (body: object) =>
      (await program.ask('POST', list, { body: { type: 'backup', ...body } })).body.extra_data.errors.map(
        ({ field }: { field: string }) => field
      )
    expect(await fields({ adapter: 's3' })).toEqual(['s3Bucket', 's3CredentialKey', 's3CredentialSecret'])
    expect(await fields({ adapter: 'dropbox' })).toEqual(['dropboxAuthToken'])
    expect(await fields({ adapter: 'sftp', path: '/a' })).toEqual([
      'sftpHost',
      'sftpUsername',
      'sftpPassword'
    ])
  })

  test('type and adapter cannot be changed', async ({ program }) => {
    const { body } = await program.ask('POST', list, { body: local('/srv/fixed') })
    const { status, body: refusal } = await program.ask('PUT', one(body.id), {
      body: { type: 'backup', adapter: 'sftp' }
    })
    expect(status).toBe(400)
    expect(refusal.extra_data.errors).toMatchObject([
      { field: 'type', code: 'read_only' },
      { field: 'adapter', code: 'read_only' },
      expect.anything(),
      expect.anything(),
      expect.anything()
    ])
  })
})

describe('a bucket', () => {
  test('is checked on request, and measured', async ({ program }) => {
    await using server = await startS3()
    await server.put({ 'backups/a': 1000, 'backups/b/c': 24, 'other/d': 5000 })
    const { settings } = server
    const body = {
      ...s3,
      path: '/backups/',
      s3Endpoint: settings.endpoint,
      s3CredentialKey: settings.credentialKey,
      s3CredentialSecret: settings.credentialSecret
    }
    const check = `${list}?check=1`
    const missing = await program.ask('POST', check, { body: { ...body, s3Bucket: 'nowhere' } })
    expect(missing.body.extra_data.errors).toMatchObject([{ field: 's3Bucket', code: 'not_found' }])
    const denied = await program.ask('POST', check, { body: { ...body, s3CredentialSecret: 'wrong' } })
    expect(denied.body.extra_data.errors).toMatchObject([
      { field: 's3CredentialKey', code: 'invalid_format' }
    ])
    const away = await program.ask('POST', check, { body: { ...body, s3Endpoint: 'http://127.0.0.1:9' } })
    expect(away.body.extra_data.errors).toMatchObject([{ field: 's3Endpoint', code: 'not_found' }])
    const made = await program.ask('POST', check, { body })
    expect(made.body).toMatchObject({
      uri: 's3://radio/backups',
      storageAvailable: '',
      storageUsedPercent: '0'
    })
    const counted = await waitFor(
      async () => {
        const read = await program.ask('GET', one(made.body.id))
        return read.body.storageUsedBytes !== '0' && read.body
      },
      { deadlineMs: 10_000, what: 'the measurement' }
    )
    expect(counted).toMatchObject({ storageUsedBytes: '1024', storageUsed: '1.0 KB' })
  })
})
