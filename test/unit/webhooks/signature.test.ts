import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import {
  isSigningSecret,
  generateSigningSecret,
  signatureHeaders
} from '../../../src/webhooks/types/signature.ts'
import { anyText } from '../../support/any-text.ts'

const at = 1_614_265_330
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const body = '{"test": 2432232314}'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

beforeEach(() => {
  // The verifier refuses messages older than five minutes.
  vi.useFakeTimers({ now: at * 1000, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('the signature matches the test vector of the specification', () => {
  expect(signatureHeaders({ id, at, body }, [secret])).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  })
})

test('without a secret there are the id and the timestamp only', () => {
  expect(signatureHeaders({ id, at, body }, [])).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330'
  })
})

test('a receiver with any of the secrets verifies any message', () => {
  const secrets = fc.array(
    fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map(key => `whsec_${Buffer.from(key).toString('base64')}`),
    { minLength: 1, maxLength: 3 }
  )
  fc.assert(
    fc.property(secrets, anyText(), fc.nat(), (known, title, number) => {
      const text = JSON.stringify({ title })
      const headers = signatureHeaders({ id: `evt_${number}`, at, body: text }, known)
      for (const each of known) {
        expect(isSigningSecret(each)).toBe(true)
        expect(new Webhook(each).verify(text, headers)).toEqual({ title })
      }
    }),
    { numRuns: 30 }
  )
})

test('another secret, body, id or time is not verified', () => {
  const headers = signatureHeaders({ id, at, body }, [secret])
  const verifies = (key: string, text: string, changed = {}) => {
    try {
      return new Webhook(key).verify(text, { ...headers, ...changed }) !== null
    } catch {
      return false
    }
  }
  expect([
    verifies(secret, body),
    verifies(generateSigningSecret(), body),
    verifies(secret, `${body} `),
    verifies(secret, body, { 'webhook-id': `${id}x` }),
    verifies(secret, body, { 'webhook-timestamp': String(at + 1) })
  ]).toEqual([true, false, false, false, false])
})

test('a body is signed as UTF-8', () => {
  const text = '{"title":"Déjà Vu 👩‍👩‍👧"}'
  expect(() =>
    new Webhook(secret).verify(text, signatureHeaders({ id, at, body: text }, [secret]))
  ).not.toThrow()
})
