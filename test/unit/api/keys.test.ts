import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { redactKeysInPath } from '../../../src/platform/runtime/redact-keys.ts'

const identifier = '0123456789abcdef'
const secret = 'fedcba98765432100123456789abcdef'
const revoke = '/api/v1/main/api-keys/revoke/'

test('a path with a whole key is redacted to the first half', () => {
  for (const name of [
    `${identifier}:${secret}`,
    `${identifier}%3A${secret}`,
    `%30123456789abcdef%3a%66edcba98765432100123456789abcdef`,
    `${identifier}:${secret.toUpperCase()}`
  ])
    expect(redactKeysInPath(revoke + name).toLowerCase()).toBe(revoke + identifier)
})

test('a secret is redacted in any encoding of the path', () => {
  const spelled = `${identifier}:${secret}`
    .split('')
    .map(char => fc.boolean().map(isPlain => (isPlain ? char : `%${char.charCodeAt(0).toString(16)}`)))
  fc.assert(
    fc.property(fc.tuple(...spelled), parts => {
      expect(redactKeysInPath(revoke + parts.join(''))).toBe(revoke + identifier)
    })
  )
})

test('other paths are unchanged', () => {
  for (const path of [`${revoke}${identifier}`, '/api/station/a%20b/queue', '/api/%zz', '/'])
    expect(redactKeysInPath(path)).toBe(path)
  expect(redactKeysInPath(`/%zz/${identifier}%3A${secret}`)).not.toContain(secret)
})
