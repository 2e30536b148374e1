import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, onTestFinished } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { probeWrites } from '../../src/stores/redis/shard-commands.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { startProgram } from '../support/program.ts'
import { openRedisNode, type RedisSettings } from '../support/redis-node.ts'
import { startRedisPair, startSentinels } from '../support/redis-pair.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const run = promisify(execFile)
const password = 'p@ss/word'

/** Starts a Redis with settings, until the end of the test. */
async function startNode(settings: RedisSettings = {}) {
  const folder = await openTempFolder()
  const { command } = await findOrDownloadRedis(folder.path)
  const node = await openRedisNode({
    command,
    parent: folder.path,
    password,
    settings: { save: '', ...settings }
  })
  await node.start()
  onTestFinished(async () => {
    await node.close()
    await folder[Symbol.asyncDispose]()
  })
  return node
}

/** Creates a certificate authority and a certificate of 127.0.0.1 that it signed. */
async function createCertificates() {
  const folder = await openTempFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const at = (name: string) => join(folder.path, name)
  const openssl = async (...words: string[]) => run('openssl', words)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-subj',
    '/CN=Own authority'
  )
  const own = ['-keyout', at('redis.key'), '-out', at('redis.pem'), '-subj', '/CN=redis']
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key')]
  await openssl('req', '-x509', ...key, ...own, '-addext', 'subjectAltName=IP:127.0.0.1', ...signed)
  return { ca: at('ca.pem'), certificate: at('redis.pem'), key: at('redis.key') }
}

const faultOf = async (url: string) =>
  resolveRedisPlace(url).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

test('a database that does not exist is refused in one line, and one that exists is used', async () => {
  const { url } = await startNode()
  expect(await faultOf(`${url}/99`)).toBe(
    'REDIS_URL names database 99, which does not exist (ERR DB index is out of range): name one below the setting "databases" of Redis, by default 16'
  )
  expect(await faultOf(`${url}/radio`)).toContain('REDIS_URL has a database that is not a number')
  const redis = openRedis(await resolveRedisPlace(`${url}/15`), 'test')
  onTestFinished(() => redis.disconnect())
  await redis.set('cuewire:test', 1)
  const other = openRedis(await resolveRedisPlace(url), 'test')
  onTestFinished(() => other.disconnect())
  expect(await other.exists('cuewire:test')).toBe(0)
})

test('a wrong password, and one that is not escaped, are explained in one line without it', async () => {
  const { url, port } = await startNode()
  expect(await faultOf(url)).toBe('')
  expect(await faultOf(`redis://:${password}@127.0.0.1:${port}`)).toBe(
    'REDIS_URL has a /, ?, # or @ where none may be: in a user or password write / as %2F, ? as %3F, # as %23 and @ as %40'
  )
  expect(await faultOf(`redis://127.0.0.1:${port}`)).toMatch(
    /^Redis does not answer at REDIS_URL \(NOAUTH .*correct the user and password/
  )
  expect(await faultOf(`redis://nobody:x@127.0.0.1:${port}`)).toMatch(
    /\(WRONGPASS .*correct the user and password/
  )
})

/** As in docs/configuration.md. */
const rules =
  'user radio on >p@ss/word ~cuewire:* ~{cuewire}* ~bull:{cuewire}* &cuewire:* +@all -@admin -@dangerous +info +cluster +config|get'

test(
  'a user with the documented permissions runs everything, and each missing permission is named',
  { timeout: 60_000 },
  async ({ databaseUrl }) => {
    const node = await startNode({ user: [rules.replace('user ', '')] })
    const url = `redis://radio:${encodeURIComponent(password)}@127.0.0.1:${node.port}`
    expect(await faultOf(url)).toBe('')
    await using folder = await openTempFolder()
    await using program = await startProgram(databaseUrl, url, folder.path)
    await startPlaying(program)
    expect((await program.ask('GET', '/api/health')).body).toMatchObject({ status: 'success' })
    const refused = String(await node.client.acl('LOG')).match(/NOPERM|radio/)
    expect(refused).toBe(null)

    for (const [removed, named] of [
      ['resetkeys', 'keys'],
      ['resetchannels', 'channel'],
      ['-eval', "'eval'"],
      ['-info', "'info'"]
    ] as const) {
      await node.client.acl('SETUSER', 'limited', 'reset', ...rules.split(' ').slice(2), removed)
      const fault = await faultOf(url.replace('radio:', 'limited:'))
      expect(fault).toContain(named)
      expect(fault).toMatch(/^the user of REDIS_URL lacks a permission of Redis .* ACL SETUSER$/)
    }
  }
)

test('the check of an idle Redis does not wait for blocked commands, which takes 100 ms each', async () => {
  const { url } = await startNode()
  const took: number[] = []
  for (let round = 0; round < 5; round++) {
    const startedAtMs = performance.now()
    await resolveRedisPlace(url)
    took.push(performance.now() - startedAtMs)
  }
  // A busy machine makes some of them slow.
  expect(Math.min(...took)).toBeLessThan(150)
})

test(
  'permissions that are taken away later are reported as refused writes of Redis, not as faults of stations',
  { timeout: 120_000 },
  async ({ databaseUrl, sql }) => {
    const node = await startNode({ user: [rules.replace('user ', '')] })
    const url = `redis://radio:${encodeURIComponent(password)}@127.0.0.1:${node.port}`
    await using folder = await openTempFolder()
    await using program = await startProgram(databaseUrl, url, folder.path)
    const { id } = await startPlaying(program)
    const health = async () => (await program.ask('GET', '/api/health')).body
    const isHealthy = async () => (await health()).status === 'success'
    await waitFor(isHealthy, { deadlineMs: 10_000, what: 'the start' })
    for (const removed of [
      '-@write',
      '-@hash',
      '-@stream',
      '-@list',
      '-del',
      'resetkeys ~cuewire:*',
      'resetkeys %R~*',
      'resetchannels',
      '-evalsha',
      'resetpass'
    ]) {
      await node.client.acl('SETUSER', 'radio', ...removed.split(' '))
      // Connections keep the user whose password was right.
      if (removed === 'resetpass') await node.client.call('CLIENT', 'KILL', 'USER', 'radio')
      const isStale = async () => {
        const { redis, live_state: state } = await health()
        // Without a password there is no connection.
        return redis === (removed === 'resetpass' ? 'down' : 'read-only') && state === 'stale'
      }
      await waitFor(isStale, { deadlineMs: 5_000, what: `${removed} to show` })
      if (removed === 'resetkeys %R~*') {
        // Longer than work of a station may fail until operators are told.
        const skip = await program.ask('POST', `/api/station/${id}/backend/skip`)
        expect([200, 503]).toContain(skip.status)
        const alertAtMs = performance.now() + 12_000
        await waitFor(() => performance.now() > alertAtMs, { deadlineMs: 30_000, what: 'an alert' })
      }
      await node.client.acl('SETUSER', 'radio', ...rules.split(' ').slice(2))
      await waitFor(isHealthy, { deadlineMs: 10_000, what: `the end of ${removed}` })
    }
    const alerts = await sql`
      select f.fact, n.body from open_facts f left join notifications n using (notification_id)
      where f.fact like 'station-failing:%'`
    expect(alerts).toEqual([])
  }
)

test('checking whether Redis takes writes stores and replicates nothing', async () => {
  const node = await startNode({ appendonly: 'yes' })
  const redis = openRedis(await resolveRedisPlace(node.url), 'test')
  onTestFinished(() => redis.disconnect())
  await redis.set('cuewire:test', 1)
  const size = async () => /^aof_current_size:(\d+)/m.exec(await node.client.info('persistence'))?.[1]
  const before = await size()
  for (let round = 0; round < 50; round++) await probeWrites(redis)
  expect([await size(), await redis.keys('*')]).toEqual([before, ['cuewire:test']])
})

test(
  'TLS with an own certificate authority works by URL and by variable, and faults name the cause',
  { timeout: 60_000 },
  async ({ databaseUrl }) => {
    const { ca, certificate, key } = await createCertificates()
    const tls = { 'tls-ca-cert-file': ca, 'tls-cert-file': certificate, 'tls-key-file': key }
    const node = await startNode({ ...tls, 'tls-port': 0, 'tls-auth-clients': 'no' })
    const port = await findFreePort()
    await node.client.config('SET', 'tls-port', String(port))
    const url = `rediss://:${encodeURIComponent(password)}@127.0.0.1:${port}`
    expect(await faultOf(`${url}?ssl_ca_certs=${ca}`)).toBe('')
    expect(await faultOf(url)).toMatch(/certificate.*set REDIS_CA_FILE/)
    expect(await faultOf(`${url}?ssl_ca_certs=/nothing.pem`)).toMatch(
      /^REDIS_URL: the certificate authority .* cannot be read \(ENOENT/
    )
    expect(await faultOf(`${url}?ssl_ca_certs=${key}`)).not.toBe('')
    expect(await faultOf(url.replace('rediss:', 'redis:'))).toContain('begin the URL with rediss:')
    expect(await faultOf(node.url.replace('redis:', 'rediss:'))).toContain('begin the URL with redis:')
    expect(await faultOf(`${url.replace('127.0.0.1', 'localhost')}?ssl_ca_certs=${ca}`)).toContain(
      'a name that the certificate of Redis contains'
    )

    const { REDIS_URL: merged = '' } = parseConfig({ REDIS_URL: url, REDIS_CA_FILE: ca })
    expect(await faultOf(merged)).toBe('')
    expect(() => parseConfig({ REDIS_URL: node.url, REDIS_CA_FILE: ca })).toThrow(
      'REDIS_CA_FILE needs a REDIS_URL that begins with rediss:'
    )
    await using folder = await openTempFolder()
    const variables = { REDIS_CA_FILE: ca }
    await using program = await startProgram(databaseUrl, url, folder.path, variables, variables)
    await startPlaying(program)
    expect((await program.ask('GET', '/api/health')).body).toMatchObject({ status: 'success' })
  }
)

test('faults of Sentinels name them, the primary, or the variable', { timeout: 60_000 }, async () => {
  await using pair = await startRedisPair()
  await using sentinels = await startSentinels(pair)
  const { url } = sentinels
  const [node] = sentinels.nodes
  expect(await faultOf(url)).toBe('')
  expect(await faultOf(url.replace('/radio/', '/other/'))).toMatch(
    /no Sentinel of REDIS_URL names the primary "other" \(127.0.0.1:\d+ knows no primary of this name/
  )
  expect(await faultOf(url.replace(/\?.*/, ''))).toMatch(
    /no Sentinel of REDIS_URL .*NOAUTH.*correct their addresses, the name, or sentinel_password/
  )
  expect(await faultOf(url.replace('p%40ss', 'wrong'))).toMatch(
    /^Redis does not answer at REDIS_URL \(WRONGPASS/
  )
  expect(await faultOf(url.replace('/radio/0', '/radio/77'))).toContain(
    'names database 77, which does not exist'
  )
  expect(await faultOf(node?.url ?? '')).toContain(
    'leads to a Redis Sentinel, not to a Redis: write redis+sentinel://'
  )
  expect(await faultOf('redis+sentinel://127.0.0.1:1/radio')).toMatch(
    /no Sentinel of REDIS_URL .*ECONNREFUSED/
  )
  // One of three may be away.
  await node?.kill()
  expect(await faultOf(url)).toBe('')
})
