import { randomBytes } from 'node:crypto'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { sshKeys } from '../support/ssh-keys.ts'
import { seedStation } from '../support/stations.ts'

const key = sshKeys.ed25519

async function makeUser(program: Program, fields: Record<string, unknown>) {
  const stationId = await seedStation(program.sql)
  const username = `u${randomBytes(4).toString('hex')}`
  const path = `/api/station/${stationId}/sftp-users`
  const { status, body } = await program.ask('POST', path, { body: { username, ...fields } })
  return { stationId, username, status, body, one: `/api/station/${stationId}/sftp-user/${body.id}` }
}

const login = async ({ ask }: Program, body: unknown) =>
  (await ask('POST', '/api/internal/sftp-auth', { body })).body

describe('an SFTP user', () => {
  test('gets in by password only, and is kept as a hash that never comes out', async ({ program }) => {
    const user = await makeUser(program, { password: 'correct horse' })
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

  test('gets in by key, with any comment', async ({ program }) => {
    const user = await makeUser(program, { publicKeys: `# laptop\n${key}\n` })
    expect(user.status).toBe(200)
    const [type, blob] = key.split(' ')
    const attempt = { username: user.username, public_key: `${type} ${blob} somebody@else` }
    expect(await login(program, attempt)).toMatchObject({ allow: true })
    expect(await login(program, { ...attempt, public_key: sshKeys.rsa2048 })).toEqual({ allow: false })
  })

  test('keeps the password until another one or null is sent, and one way in at least', async ({
    program
  }) => {
    const user = await makeUser(program, { password: 'first', publicKeys: key })
    const { username } = user
    const read = await program.ask('GET', user.one)
    await program.ask('PUT', user.one, { body: read.body })
    expect(await login(program, { username, password: 'first' })).toMatchObject({ allow: true })
    await program.ask('PUT', user.one, { body: { password: 'second' } })
    expect(await login(program, { username, password: 'first' })).toEqual({ allow: false })
    expect(await login(program, { username, password: 'second' })).toMatchObject({ allow: true })
    await program.ask('PUT', user.one, { body: { password: null } })
    expect(await login(program, { username, password: 'second' })).toEqual({ allow: false })
    const last = await program.ask('PUT', user.one, { body: { publicKeys: '' } })
    expect(last.body.extra_data.errors).toEqual([
      { field: 'password', code: 'required', message: 'password is required where there is no public key.' }
    ])
    expect(await login(program, { username, public_key: key })).toMatchObject({ allow: true })
  })

  test('is refused with a key that is none, naming its line', async ({ program }) => {
    const { status, body } = await makeUser(program, { publicKeys: `${key}\nssh-rsa AAAA` })
    expect(status).toBe(400)
    expect(body.extra_data.errors[0]).toMatchObject({ field: 'publicKeys', code: 'invalid_public_key' })
    expect(body.message).toContain('Line 2')
  })

  test('has a name of his own on the whole installation', async ({ program }) => {
    const { username } = await makeUser(program, { password: 'x' })
    const other = await makeUser(program, { username, password: 'x' })
    expect(other.status).toBe(409)
    expect(other.body.extra_data.errors[0]).toMatchObject({ field: 'username', code: 'duplicate' })
  })

  test('is told his home and quota by the storage location of the station', async ({ program }) => {
    const user = await makeUser(program, { password: 'x' })
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

  test('is not looked up without exactly one proof, nor for a key without the right', async ({ program }) => {
    const { username } = await makeUser(program, { password: 'x' })
    for (const proof of [{}, { password: 'x', public_key: key }]) {
      const { status, body } = await program.ask('POST', '/api/internal/sftp-auth', {
        body: { username, ...proof }
      })
      expect(status).toBe(400)
      expect(body.extra_data.errors[0]).toMatchObject({ field: 'password', code: 'required' })
    }
    const path = '/api/internal/sftp-auth'
    expect((await program.ask('POST', path, { body: { username, password: 'x' }, key: '' })).status).toBe(403)
  })
})
