import { createHmac } from 'node:crypto'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  type DeviceUser,
  findKnownDeviceId,
  renderKnownDeviceCookie
} from '../../../src/api/auth/known-devices.ts'

const secretsOf = (key: string) => ({
  deriveKey: (purpose: string) => createHmac('sha256', key).update(purpose).digest()
})
const secrets = secretsOf('one')
const baseUrl = 'http://radio.example'
const nowMs = Date.parse('2026-07-01T00:00:00Z')
const dayMs = 86_400_000
const anna: DeviceUser = { id: 7, passwordHash: '$argon2id$anna' }
const ben: DeviceUser = { id: 8, passwordHash: null }

/** The header `Cookie` after a response. */
const cookieOf = (setCookie: string) => setCookie.split(';')[0] ?? ''
const signIn = (user: DeviceUser = anna, cookies = '') =>
  cookieOf(renderKnownDeviceCookie(secrets, baseUrl, cookies, user, nowMs))
const find = (cookies: string, user: DeviceUser = anna, atMs = nowMs, with_ = secrets) =>
  findKnownDeviceId(with_, baseUrl, cookies, user, atMs)

test('a device is known to its user for half a year', () => {
  const cookies = `theme=dark; ${signIn()}`
  expect(find(cookies)).toMatch(/^[\w-]{12}$/)
  expect(find(cookies, anna, nowMs + 179 * dayMs)).toBe(find(cookies))
  expect(find(cookies, anna, nowMs + 180 * dayMs)).toBe(null)
})

test('it is not known to another user, with another password, or with another key', () => {
  const cookies = signIn()
  expect(find(cookies, { ...anna, id: 9 })).toBe(null)
  expect(find(cookies, { ...anna, passwordHash: '$argon2id$new' })).toBe(null)
  expect(find(cookies, anna, nowMs, secretsOf('other'))).toBe(null)
})

test('several users share a browser, the last five', () => {
  const both = signIn(ben, signIn())
  expect([find(both), find(both, ben)]).not.toContain(null)
  expect(find(signIn(anna, both), ben)).not.toBe(null)
  let cookies = signIn()
  for (let id = 10; id < 15; id++) cookies = signIn({ id, passwordHash: 'x' }, cookies)
  expect(find(cookies)).toBe(null)
  expect(cookies.length).toBeLessThan(400)
})

test('a modified or foreign cookie is not known', () => {
  const cookies = signIn()
  const [name = '', value = ''] = cookies.split('=')
  fc.assert(
    fc.property(
      fc.nat(value.length - 1),
      fc.constantFrom('A', 'B', 'x', 'z', '0', '9', '_', '-'),
      (at, char) => {
        fc.pre(value[at] !== char)
        // The last characters of base64url may hold unused bits.
        fc.pre(at < value.length - 1)
        expect(find(`${name}=${value.slice(0, at)}${char}${value.slice(at + 1)}`)).toBe(null)
      }
    )
  )
  fc.assert(
    fc.property(fc.string(), text => {
      expect(find(`${name}=${text}`)).toBe(null)
    })
  )
})

test('with https the cookie is bound to the host', () => {
  expect(renderKnownDeviceCookie(secrets, 'https://radio.example', '', anna, nowMs)).toMatch(
    /^__Host-cuewire_device=[\w-]{70}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=15552000; Secure$/
  )
})
