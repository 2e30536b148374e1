import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { messageId } from '../../../src/webhooks/message-id.ts'

test('a message id is the base32 of the first 130 bits of a hash', () => {
  const id = messageId(1, 'song:42', 7)
  expect(id).toMatch(/^evt_[a-z2-7]{26}$/)
  const hash = createHash('sha256').update('1\nsong:42\n7').digest()
  const bits = [...hash].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const digits = Array.from(id.slice(4), digit => 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(digit))
  expect(digits.map(digit => digit.toString(2).padStart(5, '0')).join('')).toBe(bits.slice(0, 130))
})

test('it is another one for another station, fact or hook, and always the same for the same', () => {
  const ids = [
    messageId(1, 'song:42', 7),
    messageId(2, 'song:42', 7),
    messageId(1, 'song:43', 7),
    messageId(1, 'song:42', 8)
  ]
  expect(new Set(ids).size).toBe(4)
  expect(messageId(1, 'song:42', 7)).toBe(ids[0])
})
