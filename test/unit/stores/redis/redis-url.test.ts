import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { findRedisUrlProblem, parseRedisUrl, addRedisCaFile } from '../../../../src/stores/redis/redis-url.ts'

const plain = {
  hosts: [{ host: 'one', port: 6379 }],
  username: '',
  password: '',
  database: 0,
  family: 0,
  isTls: false,
  caFile: '',
  certificateFile: '',
  keyFile: '',
  sentinel: null
}
const watched = { ...plain, hosts: [{ host: 'one', port: 26379 }] }

test.for([
  ['redis://one', plain],
  ['REDIS://one/', plain],
  ['redis://one:7000/3', { ...plain, hosts: [{ host: 'one', port: 7000 }], database: 3 }],
  ['redis://one?db=3&family=6', { ...plain, database: 3, family: 6 }],
  ['redis://[::1]:7000', { ...plain, hosts: [{ host: '::1', port: 7000 }] }],
  ['redis://:secret@one', { ...plain, password: 'secret' }],
  ['redis://radio:p%40ss%2Fword@one', { ...plain, username: 'radio', password: 'p@ss/word' }],
  ['redis://:p@ss:word@one', { ...plain, password: 'p@ss:word' }],
  [
    'rediss://one?ssl_ca_certs=/etc/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem',
    { ...plain, isTls: true, caFile: '/etc/ca.pem', certificateFile: '/c.pem', keyFile: '/k.pem' }
  ],
  ['redis+sentinel://one/radio', { ...watched, sentinel: { name: 'radio', username: '', password: '' } }],
  [
    'rediss+sentinel://a:b@one,two:7,[::2]:8/radio/4?sentinel_username=w&sentinel_password=x%40y',
    {
      ...watched,
      hosts: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 7 },
        { host: '::2', port: 8 }
      ],
      username: 'a',
      password: 'b',
      database: 4,
      isTls: true,
      sentinel: { name: 'radio', username: 'w', password: 'x@y' }
    }
  ]
] as const)('%s names a Redis', ([text, parsed]) => {
  expect(parseRedisUrl(text)).toEqual(parsed)
  expect(findRedisUrlProblem(text)).toBe(null)
})

test.for([
  ['http://one', 'is not a URL that begins with redis://'],
  ['redis://', 'is not a URL that begins with redis://'],
  ['redis://one:0', 'is not a URL that begins with redis://'],
  ['redis://one:99999', 'is not a URL that begins with redis://'],
  ['redis://one,two', 'nor a comma-separated list'],
  ['redis-sentinel://one/radio', 'redis+sentinel://'],
  ['redis://:p@ss/word@one', 'write / as %2F'],
  ['redis://:pass/w@rd@one', 'write / as %2F'],
  ['redis://:pass?word@one', 'write / as %2F, ? as %3F'],
  ['redis://:pass#word@one', '# as %23'],
  ['redis://:50%@one', 'write % as %25'],
  ['redis://one/radio', 'a database that is not a number'],
  ['redis://one/-1', 'a database that is not a number'],
  ['redis://one/1/2', 'a database that is not a number'],
  ['redis://one/1?db=2', 'two databases'],
  ['redis://one?db=1&db=2', 'db twice'],
  ['redis://one?family=5', 'family that is not 0, 4 or 6'],
  ['redis://one?ssl_cert_reqs=none', 'the unknown parameter "ssl_cert_reqs"'],
  ['redis://one?ssl_ca_certs=/ca.pem', 'begins with redis: write rediss'],
  ['rediss://one?ssl_keyfile=/k.pem', 'belong together'],
  ['redis://one?sentinel_password=x', 'does not begin with redis+sentinel:'],
  ['redis+sentinel://one', 'does not name the primary'],
  ['redis+sentinel://one/radio/x', 'a database that is not a number'],
  ['redis+sentinel://one/radio/0/1', 'does not name the primary'],
  ['redis+sentinel://one/radio,redis+sentinel://two/radio', 'list the hosts in one URL']
])('REDIS_URL %s is refused', ([text = '', problem = '']) => {
  expect(findRedisUrlProblem(text)).toContain(problem)
})

test('any user and password can be written, and no part of a password is in an error', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 })
  fc.assert(
    fc.property(text, text, (username, password) => {
      const url = `redis://${encodeURIComponent(username)}:${encodeURIComponent(password)}@one`
      expect(parseRedisUrl(url)).toMatchObject({ username, password })
    })
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('/', '?', '#', '%', '@', ':', ',', 'a', '2') }), noise => {
      expect(findRedisUrlProblem(`redis://:${noise}SECRET${noise}@one`) ?? '').not.toContain('SECRET')
    })
  )
})

test('a file of a certificate authority is added to all nodes that name none', () => {
  expect(addRedisCaFile('rediss://one,rediss://two?db=0', '/etc/my ca.pem')).toBe(
    'rediss://one?ssl_ca_certs=%2Fetc%2Fmy%20ca.pem,rediss://two?db=0&ssl_ca_certs=%2Fetc%2Fmy%20ca.pem'
  )
  expect(addRedisCaFile('rediss://one?ssl_ca_certs=/a', '/b')).toBe('rediss://one?ssl_ca_certs=/a')
  expect(addRedisCaFile('redis://one', '/b')).toBe(null)
})
