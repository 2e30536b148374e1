import { expect, test } from 'vitest'

import { OperatorError } from '../../../../src/platform/runtime/operator-error.ts'
import {
  isDeniedByRedis,
  isRefusedByRedis,
  isStoreAway,
  isTemporaryStoreError,
  needsNewConnection,
  toOperatorError
} from '../../../../src/platform/runtime/store-errors.ts'

const faultOf = (code: string) => Object.assign(new Error('a fault'), { code })

test('errors of a store that is unreachable, overloaded or read-only are worth a retry', () => {
  const temporary = ['ECONNREFUSED', '57P01', '53300', '55P03', '57014', '25P03', '25006', '40001', '40P01']
  const permanent = ['23505', '22003', '42601', '25001']
  expect(temporary.filter(code => !isTemporaryStoreError(faultOf(code)))).toEqual([])
  expect(permanent.filter(code => isTemporaryStoreError(faultOf(code)))).toEqual([])
})

test('errors of Postgres that an operator can solve say in one line what to do', () => {
  const solvable = ['25006', '28000', '28P01', '3D000', '3F000', '42501', '53100', '53300']
  const messages = solvable.map(code => toOperatorError(faultOf(code))?.message ?? code)
  expect(messages.filter(message => !/^[^\n]+ \(a fault\): [^\n]+$/.test(message))).toEqual([])
  const own = new OperatorError('PORT is in use')
  expect(toOperatorError(own)).toBe(own)
  for (const error of [faultOf('23505'), faultOf('ENOENT'), new Error('a bug'), 'text'])
    expect(toOperatorError(error)).toBe(null)
})

const errorOf = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })

test.for([
  "READONLY You can't write against a read only replica.",
  "READONLY You can't write against a read only replica. script: 2f3b, on @user_script:1.",
  "ERR Error running script (call to f_2f3b): @user_script:1: -READONLY You can't write against a read only replica.",
  'NOREPLICAS Not enough good replicas to write.',
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN Hash slot not served',
  'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
  'NOAUTH Authentication required.'
])('a connection on which Redis answers "%s" is replaced', message => {
  expect(needsNewConnection(errorOf(message))).toBe(true)
  expect(isTemporaryStoreError(errorOf(message))).toBe(true)
})

test.for([
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  "NOPERM User radio has no permissions to run the 'set' command",
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR unknown command',
  'MOVED 3999 127.0.0.1:6381',
  'WRONGPASS invalid username-password pair or user is disabled.'
])('a connection on which Redis answers "%s" is kept', message => {
  expect(needsNewConnection(errorOf(message))).toBe(false)
})

test('errors that are no answers of Redis do not replace a connection, except of slots that stay closed', () => {
  expect(needsNewConnection(new Error('READONLY by accident'))).toBe(false)
  const given = new Error(
    'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN Hash slot not served'
  )
  expect(needsNewConnection(given)).toBe(true)
})

test.for([
  "NOPERM this user has no permissions to run the 'set' command",
  "NOPERM User radio has no permissions to run the 'set' command",
  "NOPERM ACL failure in script: User radio has no permissions to run the 'hset' command script: 2f3b, on @user_script:2.",
  "ERR The user executing the script can't run this command or subcommand script: 2f3b, on @user_script:2.",
  'EXECABORT Transaction discarded because of previous errors.',
  'WRONGPASS invalid username-password pair or user is disabled.'
])('"%s" means that Redis refuses writes', message => {
  expect([isRefusedByRedis(errorOf(message)), isStoreAway(errorOf(message))]).toEqual([true, true])
})

test.for([
  'NOPERM this user has no permissions to access one of the keys used as arguments',
  'NOPERM No permissions to access a key',
  'NOPERM ACL failure in script: No permissions to access a channel script: 2f3b, on @user_script:2.',
  "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
  "ERR The user executing the script can't publish to the channel mentioned in the command"
])('"%s" may concern some stations only', message => {
  expect([isDeniedByRedis(errorOf(message)), isTemporaryStoreError(errorOf(message))]).toEqual([true, true])
  expect([isRefusedByRedis(errorOf(message)), isStoreAway(errorOf(message))]).toEqual([false, false])
})
