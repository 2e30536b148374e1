import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Claim, claimsOf } from '../../../src/api/streamers/streamer-login.ts'

const cases: [name: string, sent: Claim, meant: Claim[]][] = [
  ['a user of their own', { user: 'wren', password: 'a,b:c' }, [{ user: 'wren', password: 'a,b:c' }]],
  ['blanks around it', { user: ' wren\t', password: ' pw ' }, [{ user: 'wren', password: ' pw ' }]],
  ['no user', { user: '', password: 'pw' }, [{ user: 'source', password: 'pw' }]],
  ['source in any case', { user: 'Source', password: 'pw' }, [{ user: 'source', password: 'pw' }]],
  [
    'a password that holds the user',
    { user: 'source', password: ' wren,pw' },
    [
      { user: 'source', password: ' wren,pw' },
      { user: 'wren', password: 'pw' }
    ]
  ],
  [
    'the other mark within the password',
    { user: '', password: 'wren:p,w' },
    [
      { user: 'source', password: 'wren:p,w' },
      { user: 'wren', password: 'p,w' }
    ]
  ],
  [
    'a password that holds the user source',
    { user: '', password: 'SOURCE:source:pw' },
    [
      { user: 'source', password: 'SOURCE:source:pw' },
      { user: 'source', password: 'source:pw' }
    ]
  ],
  ['a mark without a user', { user: '', password: ':pw' }, [{ user: 'source', password: ':pw' }]]
]

test.for(cases)('%s', ([, sent, meant]) => {
  expect(claimsOf(sent)).toEqual(meant)
})

test('any password of any user can be sent along with the name', () => {
  const users = fc
    .stringMatching(/^[^,:\p{Cc}]{1,50}$/u)
    .filter(user => user === user.trim() && user !== '' && user.toLowerCase() !== 'source')
  const anySource = fc.constantFrom('', 'source', 'SOURCE', ' ')
  fc.assert(
    fc.property(users, fc.string(), anySource, fc.constantFrom(',', ':'), (user, password, source, mark) => {
      expect(claimsOf({ user, password })).toEqual([{ user, password }])
      expect(claimsOf({ user: source, password: user + mark + password })).toContainEqual({ user, password })
    })
  )
})
