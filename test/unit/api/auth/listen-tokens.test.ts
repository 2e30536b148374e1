import { assert, integer, nat, property, record, string } from 'fast-check'
import { expect, test } from 'vitest'

import { parseApiKey } from '../../../../src/api/auth/key-checker.ts'
import { isListenToken, openListenTokens } from '../../../../src/api/auth/listen-tokens.ts'
import { grantsListening } from '../../../../src/model/station/listen-grant.ts'
import { openSecrets } from '../../../../src/stores/secrets/secrets.ts'

const openWith = (byte: number) => openListenTokens(openSecrets(Buffer.alloc(32, byte)))
const tokens = openWith(1)
const claims = record({
  stationId: integer({ min: 1, max: 2 ** 40 }),
  endsAtMs: integer({ min: 1, max: 2 ** 35 }).map(seconds => seconds * 1_000),
  generation: nat(2 ** 31 - 1),
  subject: string({ unit: 'grapheme', maxLength: 30 })
})
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const issue = (parts = {}) =>
  tokens.issue({ stationId: 7, endsAtMs: 2_000_000_000_000, generation: 0, subject: 'anna', ...parts })

test('a token contains its claims, is safe in a URL, and is no API key', () => {
  assert(
    property(claims, given => {
      const token = tokens.issue(given)
      expect(token).toMatch(/^lt1_[\w-]+$/)
      expect(tokens.read(token)).toEqual(given)
      expect([isListenToken(token), parseApiKey(token)]).toEqual([true, null])
    })
  )
  const [longest] = [tokens.issue({ stationId: 1, endsAtMs: 0, generation: 0, subject: '👩'.repeat(64) })]
  expect(tokens.read(longest ?? '')?.subject).toBe('👩'.repeat(64))
  expect(issue()).not.toBe(issue())
})

test('a token that was changed, cut, extended or signed with another key is refused', () => {
  const token = issue()
  assert(
    property(nat(token.length - 1), nat(62), (at, step) => {
      const index = alphabet.indexOf(token[at] ?? '')
      const other = alphabet[(index + 1 + step) % 64] ?? ''
      expect(tokens.read(token.slice(0, at) + other + token.slice(at + 1))).toBeNull()
      expect(tokens.read(token.slice(0, at))).toBeNull()
    })
  )
  for (const text of [`${token}A`, `${token}=`, ` ${token}`, token.replace('lt1_', 'lt2_'), '', 'lt1_'])
    expect(tokens.read(text)).toBeNull()
  expect(tokens.read('lt1_'.padEnd(1_000_000, 'A'))).toBeNull()
  expect(openWith(2).read(token)).toBeNull()
  expect(isListenToken(token.replace('lt1_', 'lt2_'))).toBe(true)
  expect(isListenToken('0123456789abcdef:0123456789abcdef0123456789abcdef')).toBe(false)
})

test('a token is valid for its station, until it expires or the generation of the station is raised', () => {
  const grant = { stationId: 7, endsAtMs: 10_000, generation: 3 }
  const isValid = (stationId: number, listenTokenGeneration: number, nowMs: number) =>
    grantsListening(grant, { stationId, isPublic: false, listenTokenGeneration }, nowMs)
  expect(isValid(7, 3, 9_999)).toBe(true)
  expect(isValid(7, 2, 0)).toBe(true)
  expect(isValid(7, 4, 0)).toBe(false)
  expect(isValid(8, 3, 0)).toBe(false)
  expect(isValid(7, 3, 10_000)).toBe(false)
})
