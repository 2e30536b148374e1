import { expect, test } from 'vitest'

import { secretHeaderValues, redactHeaders, redactSecrets } from '../../../src/webhooks/redact.ts'

test('a secret is redacted in all its encodings', () => {
  const secret = 'pass "word"/1'
  const forms = [secret, encodeURI(secret), encodeURIComponent(secret), JSON.stringify({ secret })]
  expect(redactSecrets(forms.join(' '), [secret])).toBe('… … … {"secret":"…"}')
})

test('the longer of two overlapping secrets is redacted first', () => {
  expect(redactSecrets('a longer secret, a secret', ['secret', 'longer secret'])).toBe('a …, a …')
})

test('texts shorter than a secret are not redacted', () => {
  expect(redactSecrets('abc abcd', ['abc', '', 'abcd'])).toBe('abc …')
})

test('the path of a secret address and its last segment are redacted too', () => {
  const secret = 'https://chat.example/api/webhooks/12/token?wait=true'
  const text = `${secret} /api/webhooks/12/token?wait=true /api/webhooks/12/token token`
  expect(redactSecrets(text, [secret])).toBe('… … … …')
})

test('only headers that operators cannot set are shown', () => {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'x-cuewire-event': 'song_changed',
    authorization: 'Bearer token',
    'x-api-key': 'key of the operator'
  }
  expect(redactHeaders(headers)).toEqual({ ...headers, authorization: '…', 'x-api-key': '…' })
  expect(secretHeaderValues(headers)).toEqual(['Bearer token', 'token', 'key of the operator'])
  expect(redactHeaders({ 'content-type': 'text/hunter2' })).toEqual({ 'content-type': '…' })
})
