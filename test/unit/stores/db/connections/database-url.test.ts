import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  findDatabaseUrlProblem,
  parseDatabaseUrl
} from '../../../../../src/stores/db/connections/database-url.ts'

const parse = (text: string) => parseDatabaseUrl(text)
const problemOf = (text: string) => findDatabaseUrlProblem(text)

describe('URLs of hosting providers work', () => {
  test('Neon', () => {
    expect(
      parse(
        'postgresql://owner:npg_x@ep-a-1.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require'
      )
    ).toMatchObject({
      hosts: [{ host: 'ep-a-1.eu-central-1.aws.neon.tech', port: 5432 }],
      user: 'owner',
      password: 'npg_x',
      database: 'neondb',
      tls: { mode: 'require' },
      channelBinding: 'require'
    })
    expect(parse('postgres://u:p@h/d?options=endpoint%3Dep-a-1&sslmode=require').options).toBe(
      'endpoint=ep-a-1'
    )
  })

  test('Prisma', () => {
    expect(parse('postgresql://u:p@localhost:5432/db?schema=my"app&connect_timeout=10')).toMatchObject({
      searchPath: '"my""app"',
      connectTimeoutSeconds: 10
    })
  })

  test('RDS', () => {
    expect(
      parse('postgres://u:p@db.x.rds.amazonaws.com/db?sslmode=verify-full&sslrootcert=/etc/rds.pem').tls
    ).toMatchObject({ mode: 'verify-full', ca: '/etc/rds.pem' })
  })

  test('Heroku, without parameters, uses TLS', () => {
    expect(parse('postgres://u:p@ec2-1.compute-1.amazonaws.com:5432/db').tls.mode).toBe('prefer')
    expect(parse('postgres://u:p@ec2-1.compute-1.amazonaws.com:5432/db?sslmode=no-verify').tls.mode).toBe(
      'require'
    )
  })

  test('DigitalOcean', () => {
    expect(
      parse('postgresql://doadmin:x@db-do-user-1.b.db.ondigitalocean.com:25060/defaultdb?sslmode=require')
    ).toMatchObject({ hosts: [{ port: 25_060 }], tls: { mode: 'require' } })
  })
})

describe('hosts', () => {
  test('are names, addresses, and lists of them', () => {
    expect(parse('postgres://[::1]/db').hosts).toEqual([{ host: '::1', port: 5432 }])
    expect(parse('postgres://u@one,two:5433,[2001:db8::1]:5434/db').hosts).toEqual([
      { host: 'one', port: 5432 },
      { host: 'two', port: 5433 },
      { host: '2001:db8::1', port: 5434 }
    ])
    expect(parse('postgres:///db?host=one,two&port=1,2').hosts).toEqual([
      { host: 'one', port: 1 },
      { host: 'two', port: 2 }
    ])
  })

  test('are folders of Unix sockets, as parameter and percent-encoded', () => {
    const socketPath = '/var/run/postgresql/.s.PGSQL.5433'
    expect(parse('postgres:///db?host=/var/run/postgresql&port=5433')).toMatchObject({
      hosts: [],
      socketPath
    })
    expect(parse('postgres://u@%2Fvar%2Frun%2Fpostgresql:5433/db')).toMatchObject({ hosts: [], socketPath })
  })

  test('are left to the client if the URL names none', () => {
    expect(parse('postgres:///db')).toMatchObject({ hosts: [], database: 'db' })
    expect(parse('postgres:///db').socketPath).toBeUndefined()
  })
})

describe('TLS', () => {
  test('is left out for this machine only, and a given authority is used', () => {
    expect(parse('postgres://localhost/db').tls.mode).toBe('disable')
    expect(parse('postgres://db.example/db').tls.mode).toBe('prefer')
    expect(parse('postgres://h/db?sslmode=disable').tls.mode).toBe('disable')
    expect(parse('postgres://h/db?sslmode=require&sslrootcert=/ca.pem').tls.mode).toBe('verify-ca')
    expect(parse('postgres://h/db?sslrootcert=system').tls).toMatchObject({
      mode: 'verify-full',
      ca: undefined
    })
    expect(parse('postgres://h/db?ssl=true').tls.mode).toBe('require')
  })
})

test.each([
  ['mysql://h/db', /begins with postgres/],
  ['postgres://u:p/w@h/db', /"\/"/],
  ['postgres://u:p?w@h/db', /"@" after a "\/" or "\?"|%3F/],
  ['postgres://u:p#w@h/db', /%23/],
  ['postgres://u:p%w@h/db', /%25/],
  ['postgres://u:123/w@h/db', /%2F/],
  ['postgres://h:0/db', /port/],
  ['postgres://h:65536/db', /port/],
  ['postgres://::1/db', /\[::1\]/],
  ['postgres://h/db?sslmode=sure', /^has the parameter sslmode=sure: it must be disable,/],
  ['postgres://h/db?sslmode=allow', /sslmode=allow/],
  ['postgres://h/db?sslrootcert=/ca.pem&sslmode=prefer', /sslrootcert, which needs sslmode/],
  ['postgres://h/db?sslcert=../server-ca.pem', /sslkey/],
  ['postgres://h/db?pgbouncer=true', /pgbouncer=true.*session/],
  ['postgres://h/db?connection_limit=5', /connection_limit, which is not supported/],
  ['postgres://h/db?target_session_attrs=standby', /target_session_attrs=standby.*writes/],
  ['postgres://h/db?connect_timeout=0', /connect_timeout=0/],
  ['postgres://h/db?client_encoding=latin1', /client_encoding=latin1/],
  ['postgres://h/db?sslmod=require', /parameter sslmod, which is not known/],
  ['postgres://h/db?sslmode=require&sslmode=disable', /twice/],
  ['postgres://h/db?host=other', /parameter host beside/],
  ['postgres://h/db?port=5433', /parameter port beside/],
  ['postgres://u@h/db?user=other', /parameter user beside/],
  ['postgres://u:p@h/db?password=other', /parameter password beside/],
  ['postgres://h/db?ssl=true&sslmode=disable', /parameters ssl and sslmode/],
  ['postgres://h/db?dbname=other', /parameter dbname beside/],
  ['postgres://h/db?options=-c%20client_encoding%3Dlatin1', /options with client_encoding/],
  ['postgres:///db?host=/run,h', /socket/]
])('%s is refused with the cause', (url, problem) => {
  expect(problemOf(url)).toMatch(problem)
  expect(problemOf(url)).not.toContain('\n')
})

test('encoded passwords arrive as they are, and one with @ needs no encoding', () => {
  expect(parse('postgres://u:p@ss@h/db')).toMatchObject({ password: 'p@ss', hosts: [{ host: 'h' }] })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), password => {
      const url = `postgres://u:${encodeURIComponent(password)}@one,[::1]:5433/db`
      expect(parse(url)).toMatchObject({ password, user: 'u', database: 'db', hosts: [{}, { host: '::1' }] })
    })
  )
})

test('any text is parsed or refused in one line', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (front, back) => {
      const problem = problemOf(`postgres://${front}@h/db?${back}`)
      expect(problem === null || problem !== '').toBe(true)
    })
  )
})
