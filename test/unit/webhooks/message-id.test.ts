import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { computeMessageId } from '../../../src/webhooks/outbox.ts'

const event = { stationId: 1, fact: 'song:42', happenedAtMs: 5_000, webhookId: 7 }

test('a message id is the base32 of the first 130 bits of a hash', () => {
  const id = computeMessageId(event)
  expect(id).toMatch(/^evt_[a-z2-7]{26}$/)
  const hash = createHash('sha256').update('1\nsong:42\n5000\n7').digest()
  const bits = [...hash].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const digits = Array.from(id.slice(4), digit => 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(digit))
  expect(digits.map(digit => digit.toString(2).padStart(5, '0')).join('')).toBe(bits.slice(0, 130))
})

test('it depends on the station, fact, time and web hook only', () => {
  const ids = [
    computeMessageId(event),
    computeMessageId({ ...event, stationId: 2 }),
    computeMessageId({ ...event, fact: 'song:43' }),
    computeMessageId({ ...event, happenedAtMs: 5_001 }),
    computeMessageId({ ...event, webhookId: 8 })
  ]
  expect(new Set(ids).size).toBe(5)
  expect(computeMessageId({ ...event })).toBe(ids[0])
})
