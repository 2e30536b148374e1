import { expect, test } from 'vitest'

import { secretHeaders, redactHeaders, redactSecrets } from '../../../src/webhooks/redact.ts'

test('a secret goes in every form in which it may be written', () => {
  const secret = 'pass "word"/1'
  const forms = [secret, encodeURI(secret), encodeURIComponent(secret), JSON.stringify({ secret })]
  expect(redactSecrets(forms.join(' '), [secret])).toBe('… … … {"secret":"…"}')
})

test('of secrets within each other the longer one goes whole', () => {
  expect(redactSecrets('a longer secret, a secret', ['secret', 'longer secret'])).toBe('a …, a …')
})

test('what is too short to be a secret stays', () => {
  expect(redactSecrets('abc abcd', ['abc', '', 'abcd'])).toBe('abc …')
})

test('of an address that is a secret its path goes too, and its last part', () => {
  const secret = 'https://chat.example/api/webhooks/12/token?wait=true'
  const text = `${secret} /api/webhooks/12/token?wait=true /api/webhooks/12/token token`
  expect(redactSecrets(text, [secret])).toBe('… … … …')
})

test('of headers only those are shown that no operator can set', () => {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'x-cuewire-event': 'song_changed',
    authorization: 'Bearer token',
    'x-api-key': 'key of the operator'
  }
  expect(redactHeaders(headers)).toEqual({ ...headers, authorization: '…', 'x-api-key': '…' })
  expect(secretHeaders(headers)).toEqual(['Bearer token', 'token', 'key of the operator'])
  expect(redactHeaders({ 'content-type': 'text/hunter2' })).toEqual({ 'content-type': '…' })
})
