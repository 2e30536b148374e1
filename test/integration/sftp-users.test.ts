import { randomBytes } from 'node:crypto'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { sshKeys } from '../support/ssh-keys.ts'
import { seedStation } from '../support/stations.ts'

const key = sshKeys.ed25519

async function createUser(program: Program, fields: Record<string, unknown>) {
  const stationId = await seedStation(program.sql)
  const username = `u${randomBytes(4).toString('hex')}`
  const path = `/api/station/${stationId}/sftp-users`
  const { status, body } = await program.ask('POST', path, { body: { username, ...fields } })
  return { stationId, username, status, body, one: `/api/station/${stationId}/sftp-user/${body.id}` }
}

const login = async ({ ask }: Program, body: unknown) =>
  (await ask('POST', '/api/internal/sftp-auth', { body })).body

describe('an SFTP user', () => {
  test('with a password logs in by password only, and its hash is not returned', async ({ program }) => {
    const user = await createUser(program, { password: 'correct horse' })
    expect(user.body).toMatchObject({ username: user.username, password: '', publicKeys: '' })
    const [row] = await program.sql`select password from sftp_users where username = ${user.username}`
    expect(row?.['password']).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await login(program, { username: user.username, password: 'correct horse' })).toMatchObject({
      allow: true,
      username: user.username,
      station_id: user.stationId,
      quota_bytes: 0
    })
    expect(await login(program, { username: user.username, password: 'wrong' })).toEqual({ allow: false })
    expect(await login(program, { username: user.username, public_key: key })).toEqual({ allow: false })
    expect(await login(program, { username: 'nobody', password: 'correct horse' })).toEqual({ allow: false })
  })

  test('with a key logs in by key, with any comment', async ({ program }) => {
    const user = await createUser(program, { publicKeys: `# laptop\n${key}\n` })
    expect(user.status).toBe(200)
    const [type, blob] = key.split(' ')
    const attempt = { username: user.username, public_key: `${type} ${blob} somebody@else` }
    expect(await login(program, attempt)).toMatchObject({ allow: true })
    expect(await login(program, { ...attempt, public_key: sshKeys.rsa2048 })).toEqual({ allow: false })
  })

  test('keeps the password until another value or null is sent, and needs a password or a key', async ({
    program
  }) => {
    const user = await createUser(program, { password: 'first', publicKeys: key })
    const { username } = user
    const read = await program.ask('GET', user.one)
    await program.ask('PUT', user.one, { body: read.body })
    expect(await login(program, { username, password: 'first' })).toMatchObject({ allow: true })
    await program.ask('PUT', user.one, { body: { password: 'second' } })
    expect(await login(program, { username, password: 'first' })).toEqual({ allow: false })
    expect(await login(program, { username, password: 'second' })).toMatchObject({ allow: true })
    await program.ask('PUT', user.one, { body: { password: null } })
    expect(await login(program, { username, password: 'second' })).toEqual({ allow: false })
    const refused = await program.ask('PUT', user.one, { body: { publicKeys: '' } })
    expect(refused.body.extra_data.errors).toEqual([
      { field: 'password', code: 'required', message: 'password is required without a public key.' }
    ])
    expect(await login(program, { username, public_key: key })).toMatchObject({ allow: true })
  })

  test('with an invalid key is refused, with the line of the key', async ({ program }) => {
    const { status, body } = await createUser(program, { publicKeys: `${key}\nssh-rsa AAAA` })
    expect(status).toBe(400)
    expect(body.extra_data.errors[0]).toMatchObject({ field: 'publicKeys', code: 'invalid_public_key' })
    expect(body.message).toContain('Line 2')
  })

  test('has a username that is unique in the installation', async ({ program }) => {
    const { username } = await createUser(program, { password: 'x' })
    const other = await createUser(program, { username, password: 'x' })
    expect(other.status).toBe(409)
    expect(other.body.extra_data.errors[0]).toMatchObject({ field: 'username', code: 'duplicate' })
  })

  test('gets home and quota from the storage location of the station', async ({ program }) => {
    const user = await createUser(program, { password: 'x' })
    await program.sql`
      with place as (
        insert into storage_locations (type, adapter, path, place, storage_quota_bytes)
        values ('station_media', 'local', '/srv/radio/media', '/srv/radio/media', 5000) returning id
      )
      update stations set media_storage_location_id = place.id from place where stations.id = ${user.stationId}`
    expect(await login(program, { username: user.username, password: 'x' })).toEqual({
      allow: true,
      username: user.username,
      station_id: user.stationId,
      home: '/srv/radio/media',
      quota_bytes: 5000
    })
  })

  test('needs exactly one credential, and a caller with permission', async ({ program }) => {
    const { username } = await createUser(program, { password: 'x' })
    for (const credentials of [{}, { password: 'x', public_key: key }]) {
      const { status, body } = await program.ask('POST', '/api/internal/sftp-auth', {
        body: { username, ...credentials }
      })
      expect(status).toBe(400)
      expect(body.extra_data.errors[0]).toMatchObject({ field: 'password', code: 'required' })
    }
    const path = '/api/internal/sftp-auth'
    expect((await program.ask('POST', path, { body: { username, password: 'x' }, key: '' })).status).toBe(403)
  })
})
