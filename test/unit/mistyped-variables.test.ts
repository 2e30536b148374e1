import { assert, constantFrom, nat, pre, property } from 'fast-check'
import { expect, test } from 'vitest'

import { configVariableNames } from '../../src/config.ts'
import { findMistypedVariables } from '../../src/mistyped-variables.ts'

test.for([
  ['DRAIN_SECOND', 'DRAIN_SECONDS'],
  ['DRIAN_SECONDS', 'DRAIN_SECONDS'],
  ['drain_seconds', 'DRAIN_SECONDS'],
  ['CUEWIRE_DRAIN_SECONDS', 'DRAIN_SECONDS'],
  ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ['SECRET_KEY', 'SECRETS_KEY'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['REDIS_URI', 'REDIS_URL'],
  ['BASEURL', 'BASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['CORS_ALLOWED_ORIGIN', 'CORS_ALLOWED_ORIGINS'],
  ['METRIC_PORT', 'METRICS_PORT'],
  ['LIVE_MAX_CONNECTION_PER_ADDRESS', 'LIVE_MAX_CONNECTIONS_PER_ADDRESS']
])('%s is reported as %s', ([given = '', meant = '']) => {
  expect(findMistypedVariables({ [given]: '1', PATH: '/bin' })).toEqual([{ given, meant }])
})

test.for([
  'PATH',
  'HOME',
  'POST',
  'HOSTNAME',
  'SHELL',
  'NODE_ENV',
  'CUEWIRE_URL',
  'CUEWIRE_PORT',
  'CUEWIRE_SERVICE_HOST',
  'POSTGRES_PASSWORD',
  'RADIO_DIR',
  'ICECAST_PORT',
  'MALLOC_ARENA_MAX'
])('%s is a variable of another program', given => {
  expect(findMistypedVariables({ [given]: 'x' })).toEqual([])
})

test('nothing is reported if the variable is set as well, or the other one is empty', () => {
  expect(findMistypedVariables({ REDIS_URI: 'redis://a', REDIS_URL: 'redis://b' })).toEqual([])
  expect(findMistypedVariables({ DRAIN_SECOND: '' })).toEqual([])
})

test('no variable is reported as another one, and a missing letter in a long name is always found', () => {
  for (const name of configVariableNames) expect(findMistypedVariables({ [name]: 'x' })).toEqual([])
  const long = configVariableNames.filter(name => name.length >= 10)
  assert(
    property(constantFrom(...long), nat(), (name, index) => {
      const at = index % name.length
      const given = name.slice(0, at) + name.slice(at + 1)
      pre(!configVariableNames.includes(given))
      expect(findMistypedVariables({ [given]: 'x' }).map(each => each.given)).toEqual([given])
    })
  )
})

test('names of files with secrets are known', () => {
  expect(findMistypedVariables({ REDIS_URL_FILE: '/run/redis', ALERT_SECRET_FILE: '/run/alerts' })).toEqual(
    []
  )
  expect(findMistypedVariables({ SECRETS_KEY_FIL: '/run/key' })).toEqual([
    { given: 'SECRETS_KEY_FIL', meant: 'SECRETS_KEY_FILE' }
  ])
})
