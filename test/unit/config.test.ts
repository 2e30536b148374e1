import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { secretNames } from '../../scripts/variable-files.mjs'
import { parseConfig, configVariableNames } from '../../src/config.ts'
import { openTempFolder } from '../support/temp-folder.ts'

test('an empty environment results in the documented defaults', () => {
  expect(parseConfig({})).toEqual({
    PORT: 8080,
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:8080',
    DATA_DIR: '.data',
    SERVER_PROCESSES: 1,
    HISTORY_RETENTION_DAYS: 0,
    REQUEST_RETENTION_DAYS: 30,
    DELIVERY_RETENTION_DAYS: 30,
    AUDIT_RETENTION_DAYS: 365,
    BACKUP_KEEP: 7,
    LISTENER_RETENTION_DAYS: 400,
    AUDIENCE_RETENTION_DAYS: 730,
    DEMO: true,
    ACCESS_LOG: false,
    API_DIALECT: 'documented',
    CORS_ALLOWED_ORIGINS: ['*'],
    LIVE_MAX_CONNECTIONS: 50_000,
    LIVE_MAX_CONNECTIONS_PER_ADDRESS: 1_000,
    LIVE_MAX_CONNECTIONS_PER_STATION: 0,
    DRAIN_SECONDS: 0,
    TRUSTED_PROXIES: [],
    WEBHOOK_ALLOWED_NETWORKS: [],
    COVER_LOOKUP: 'off',
    MAIL_FROM: 'cuewire@localhost.localdomain',
    STORAGE_ROOTS: ['/srv', '/mnt', '/media', '/var/lib/cuewire', '/var/azuracast'],
    UPLOAD_MAX_MB: 2048,
    HLS_SEGMENT_SECONDS: 4,
    METRICS_HOST: '127.0.0.1',
    SLOW_LOG_MS: 1_000,
    LOG_LEVEL: 'info'
  })
})

test('BASE_URL defaults to the port, and has no trailing slash', () => {
  expect(parseConfig({ PORT: '9000' }).BASE_URL).toBe('http://localhost:9000')
  expect(parseConfig({ BASE_URL: 'https://radio.example.com/' }).BASE_URL).toBe('https://radio.example.com')
})

test('networks are addresses with or without a prefix length', () => {
  const networks = parseConfig({ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8,192.168.1.7' })
  expect(networks.WEBHOOK_ALLOWED_NETWORKS).toEqual(['10.0.0.0/8', 'fd00::/8', '192.168.1.7'])
})

test('COVER_LOOKUP needs a BASE_URL, because requests name a contact', () => {
  const BASE_URL = 'https://radio.example.com'
  expect(parseConfig({ COVER_LOOKUP: 'musicbrainz', BASE_URL }).COVER_LOOKUP).toBe('musicbrainz')
  expect(parseConfig({ COVER_LOOKUP: 'off' }).COVER_LOOKUP).toBe('off')
  expect(() => parseConfig({ COVER_LOOKUP: 'musicbrainz' })).toThrow('COVER_LOOKUP needs BASE_URL')
  expect(() => parseConfig({ COVER_LOOKUP: 'on', BASE_URL })).toThrow('COVER_LOOKUP is neither')
})

test.for([
  'rediss://user:secret@redis.example.com:6380/0',
  'redis://:pass,word@one:7001, redis://:pass,word@two:7002 ,redis://:pass,word@[::1]'
])('REDIS_URL may be %s', text => {
  expect(parseConfig({ REDIS_URL: text }).REDIS_URL).toBe(text)
})

test.for([
  ['redis://one:7001,two:7002', 'nor a comma-separated list'],
  ['redis://one,two:7002', 'nor a comma-separated list'],
  ['redis://one:7001,http://two:7002', 'nor a comma-separated list'],
  ['redis://one:7001,rediss://two:7002', 'differ in scheme, user or password'],
  ['redis://:a@one:7001,redis://:b@two:7002', 'differ in scheme, user or password'],
  ['redis://a:x@one:7001,redis://b:x@two:7002', 'differ in scheme, user or password']
])('REDIS_URL may not be %s', ([text = '', problem = '']) => {
  expect(() => parseConfig({ REDIS_URL: text })).toThrow(problem)
})

test('an empty variable counts as unset', () => {
  expect(parseConfig({ PORT: '', REDIS_URL: '' })).toMatchObject({ PORT: 8080 })
})

test('every invalid variable is named in one line, without its value', () => {
  const bad = {
    PORT: 'eighty',
    DATABASE_URL: 'mysql://user:hunter2@db/cuewire',
    REDIS_URL: 'not a url',
    ADMIN_API_KEY: 'hunter2',
    LOG_LEVEL: 'loud',
    SERVER_PROCESSES: '0',
    DEMO: 'perhaps',
    TRUSTED_PROXIES: 'loopback',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, 10.0.0.0/33'
  }
  let message = ''
  try {
    parseConfig(bad)
  } catch (error) {
    message = String(error)
  }
  for (const name of Object.keys(bad)) expect(message).toContain(name)
  expect(message).not.toContain('hunter2')
  expect(message).not.toContain('\n')
})

test('docs/configuration.md lists exactly the variables, with their defaults', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([A-Z_`, ]+)` \| ([^|]*)\|/gm)].flatMap(([, text = '', cell = '']) => {
    const names = text.split('`, `')
    const defaults = cell.trim().replaceAll('`', '').replace(':PORT', ':8080')
    return names.map(
      (name, index) => [name, names.length === 1 ? defaults : defaults.split(', ')[index]] as const
    )
  })
  expect(rows.map(([name]) => name).toSorted()).toEqual(configVariableNames.toSorted())
  const render = (value: unknown) =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value) || 'none'
  const documented = new Map(rows)
  const defaults = Object.entries(parseConfig({})).filter(([, value]) => value !== undefined)
  expect(defaults.map(([name]) => [name, documented.get(name)])).toEqual(
    defaults.map(([name, value]) => [name, render(value)])
  )
})

test('a backup schedule is a cron expression, and needs a storage', () => {
  const given = { BACKUP_SCHEDULE: '0 3 * * *', BACKUP_STORAGE: '/backups' }
  expect(parseConfig(given)).toMatchObject(given)
  expect(() => parseConfig({ ...given, BACKUP_SCHEDULE: 'daily' })).toThrow(
    'BACKUP_SCHEDULE is not a cron expression'
  )
  expect(() => parseConfig({ ...given, BACKUP_STORAGE: 'backups' })).toThrow('BACKUP_STORAGE is neither')
  expect(() => parseConfig({ ...given, BACKUP_STORAGE: '' })).toThrow('belong together')
})

test.for([
  ['https://user:secret@radio.example.com', 'BASE_URL has a user or a password'],
  ['https://user@radio.example.com', 'BASE_URL has a user or a password'],
  ['https://radio.example.com/?a=1', 'BASE_URL has a query or a fragment'],
  ['https://radio.example.com?', 'BASE_URL has a query or a fragment'],
  ['https://radio.example.com/#top', 'BASE_URL has a query or a fragment']
])('BASE_URL may not be %s', ([text = '', problem = '']) => {
  const parse = () => parseConfig({ BASE_URL: text })
  expect(parse).toThrow(`invalid configuration: ${problem}`)
  expect(parse).not.toThrow('secret')
})

test('allowed origins are as browsers send them', () => {
  const parse = (text: string) => parseConfig({ CORS_ALLOWED_ORIGINS: text }).CORS_ALLOWED_ORIGINS
  expect(parse('https://Radio.example.com/, http://a.example:80,https://b.example:8443')).toEqual([
    'https://radio.example.com',
    'http://a.example',
    'https://b.example:8443'
  ])
  expect(parse('capacitor://localhost,null,*')).toEqual(['capacitor://localhost', 'null', '*'])
})

test.for([
  'foo',
  'radio.example.com',
  'https://*.example.com',
  'https://a.example/path',
  'https://u:p@a.example'
])('CORS_ALLOWED_ORIGINS may not contain %s', text => {
  expect(() => parseConfig({ CORS_ALLOWED_ORIGINS: `https://a.example,${text}` })).toThrow(
    'CORS_ALLOWED_ORIGINS contains something that is neither * nor an origin'
  )
})

test('a secret may be in a file, whose last line may end', async () => {
  await using folder = await openTempFolder()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text)
    return join(folder.path, name)
  }
  const secrets = {
    DATABASE_URL: 'postgres://cuewire:pass@db/cuewire',
    REDIS_URL: 'redis://:word@one:6379',
    ADMIN_API_KEY: `${'a'.repeat(16)}:${'b'.repeat(32)}`,
    SECRETS_KEY: 'c'.repeat(64),
    SMTP_URL: 'smtp://user:word@mail:587',
    ALERT_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`
  }
  expect(secretNames).toEqual(Object.keys(secrets))
  for (const end of ['', '\n', '\r\n', '\n\n']) {
    const env = Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [`${name}_FILE`, file(name, value + end)])
    )
    expect(parseConfig({ ...env, DATABASE_URL: '', ALERT_URL: 'https://alerts.example' })).toMatchObject(
      secrets
    )
  }
  // Windows' editor begins a file with a byte order mark.
  expect(parseConfig({ SMTP_URL_FILE: file('bom', '\uFEFFsmtp://mail') }).SMTP_URL).toBe('smtp://mail')

  mkdirSync(join(folder.path, 'folder'))
  const cases = [
    [
      { SECRETS_KEY: 'd'.repeat(64), SECRETS_KEY_FILE: file('both', 'x') },
      'SECRETS_KEY_FILE is set, and so is SECRETS_KEY'
    ],
    [{ SMTP_URL_FILE: join(folder.path, 'nowhere') }, `nowhere, which cannot be read (ENOENT)`],
    [{ SMTP_URL_FILE: join(folder.path, 'folder') }, 'which cannot be read (it is not a file)'],
    [{ SMTP_URL_FILE: '/dev/zero' }, 'which cannot be read (it is not a file)'],
    [{ SMTP_URL_FILE: file('empty', '\n') }, 'empty, which is empty'],
    [{ SMTP_URL_FILE: file('two', 'smtp://a\nsmtp://b\n') }, 'two, which has more than one line'],
    [{ SMTP_URL_FILE: file('large', 'x'.repeat(70_000)) }, 'it is larger than 64 KiB'],
    [{ SECRETS_KEY_FILE: file('short', 'abc\n') }, 'SECRETS_KEY is not 64 hexadecimal digits'],
    [
      { DATABASE_URL_FILE: 'postgres://cuewire:hunter2@db/cuewire' },
      'DATABASE_URL_FILE is not an absolute path'
    ],
    [
      { PORT_FILE: file('port', '9000'), LOG_LEVEL: 'loud' },
      'PORT_FILE is not supported: set PORT; LOG_LEVEL is none of'
    ]
  ] as const
  for (const [env, message] of cases) {
    const parsing = () => parseConfig(env)
    expect(parsing).toThrow(message)
    expect(parsing).not.toThrow(/hunter2|\n/)
  }
})
