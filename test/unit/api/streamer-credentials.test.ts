import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  type StreamerCredentials,
  parseStreamerCredentials
} from '../../../src/api/streamers/streamer-login.ts'

const cases: [name: string, sent: StreamerCredentials, expected: StreamerCredentials[]][] = [
  ['a user name', { user: 'wren', password: 'a,b:c' }, [{ user: 'wren', password: 'a,b:c' }]],
  [
    'whitespace around the user name',
    { user: ' wren\t', password: ' pw ' },
    [{ user: 'wren', password: ' pw ' }]
  ],
  ['no user', { user: '', password: 'pw' }, [{ user: 'source', password: 'pw' }]],
  ['source in upper case', { user: 'Source', password: 'pw' }, [{ user: 'source', password: 'pw' }]],
  [
    'a password that contains the user',
    { user: 'source', password: ' wren,pw' },
    [
      { user: 'source', password: ' wren,pw' },
      { user: 'wren', password: 'pw' }
    ]
  ],
  [
    'the other separator in the password',
    { user: '', password: 'wren:p,w' },
    [
      { user: 'source', password: 'wren:p,w' },
      { user: 'wren', password: 'p,w' }
    ]
  ],
  [
    'a password that contains the user source',
    { user: '', password: 'SOURCE:source:pw' },
    [
      { user: 'source', password: 'SOURCE:source:pw' },
      { user: 'source', password: 'source:pw' }
    ]
  ],
  ['a separator without a user', { user: '', password: ':pw' }, [{ user: 'source', password: ':pw' }]]
]

test.for(cases)('parses %s', ([, sent, expected]) => {
  expect(parseStreamerCredentials(sent)).toEqual(expected)
})

test('any user and password can be sent in the password field', () => {
  const users = fc
    .stringMatching(/^[^,:\p{Cc}]{1,50}$/u)
    .filter(user => user === user.trim() && user !== '' && user.toLowerCase() !== 'source')
  const anySource = fc.constantFrom('', 'source', 'SOURCE', ' ')
  fc.assert(
    fc.property(
      users,
      fc.string(),
      anySource,
      fc.constantFrom(',', ':'),
      (user, password, source, separator) => {
        expect(parseStreamerCredentials({ user, password })).toEqual([{ user, password }])
        expect(
          parseStreamerCredentials({ user: source, password: user + separator + password })
        ).toContainEqual({
          user,
          password
        })
      }
    )
  )
})
