import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'

import { openConnectionAdmission } from '../../../src/live/connection-admission.ts'
import type { ConnectionOwner } from '../../../src/live/session.ts'

test('connections are limited per address and in total', () => {
  const admission = openConnectionAdmission({ total: 5, perAddress: 3 })
  const from = (address: string) => admission.enter(address)
  expect([1, 2, 3, 4].map(() => typeof from('192.0.2.1'))).toEqual(['object', 'object', 'object', 'string'])
  expect(from('192.0.2.1')).toBe('address')
  expect(from('192.0.2.2')).toMatchObject({ connections: 1 })
  expect(from('192.0.2.2')).toMatchObject({ connections: 2 })
  expect(from('192.0.2.3')).toBe('total')
  expect(admission.size()).toBe(5)
})

test('addresses of one IPv6 /64 share a limit', () => {
  const admission = openConnectionAdmission({ total: 9, perAddress: 1 })
  expect(admission.enter('2001:db8:0:7::1')).toMatchObject({ connections: 1 })
  expect(admission.enter('2001:0db8:0000:0007:ffff:0000:0000:0002')).toBe('address')
  expect(admission.enter('2001:db8:0:8::1')).toMatchObject({ connections: 1 })
})

test('connections are released in any order', () => {
  assert(
    property(array(constantFrom('a', 'b', 'c', 'leave')), steps => {
      const admission = openConnectionAdmission({ total: 4, perAddress: 2 })
      const connected: ConnectionOwner[] = []
      for (const step of steps) {
        const owner = step === 'leave' ? connected.shift() : admission.enter(step)
        if (step === 'leave') {
          if (typeof owner === 'object') admission.leave(owner)
        } else if (typeof owner === 'object') connected.push(owner)
        expect(admission.size()).toBe(connected.length)
      }
      for (const owner of connected) admission.leave(owner)
      expect(admission.size()).toBe(0)
      expect(admission.enter('a')).toMatchObject({ connections: 1 })
    })
  )
})
