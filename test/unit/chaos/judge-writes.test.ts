import { expect, test } from 'vitest'

import { openRecordSet, openRegister, outcomeOfStatus } from '../../chaos/judge-writes.ts'

const rules = (found: readonly { rule: string }[]) => found.map(({ rule }) => rule)

test('the outcome of a write without a response or with a 5xx is unknown', () => {
  expect([200, 204, 400, 409, 500, 503, 0].map(outcomeOfStatus)).toEqual([
    'accepted',
    'accepted',
    'refused',
    'refused',
    'unknown',
    'unknown',
    'unknown'
  ])
})

test('a register must contain the last accepted value', () => {
  const register = openRegister(1, 'description', 'first')
  expect(register.judge('first')).toEqual([])
  register.write('second')('accepted')
  register.write('bad')('refused')
  expect(register.judge('second')).toEqual([])
  expect(rules(register.judge('first'))).toEqual(['an accepted write is stored'])
  expect(rules(register.judge('bad'))).toEqual(['an accepted write is stored'])
})

test('a write without a response may be stored or not, also late', () => {
  const register = openRegister(1, 'description', 'first')
  register.write('second')('unknown')
  register.write('third')('accepted')
  expect(register.judge('third')).toEqual([])
  expect(register.judge('second')).toEqual([])
  expect(rules(register.judge('first'))).toEqual(['an accepted write is stored'])
})

test('a write that began before the store lost data may be stored or not', () => {
  const register = openRegister(1, 'listeners', '0')
  const record = register.write('361')
  register.acceptAnyValue()
  expect(register.judge('205')).toEqual([])
  record('accepted')
  expect(register.judge('205')).toEqual([])
  register.write('7')('accepted')
  expect(register.judge('7')).toEqual([])
  expect(register.judge('361')).toEqual([])
  expect(rules(register.judge('205'))).toEqual(['an accepted write is stored'])
})

test('accepted records must be stored once; refused and removed ones must not', () => {
  const records = openRecordSet(1, 'playlist')
  records.created('a', 'accepted')
  records.created('b', 'refused')
  records.created('c', 'unknown')
  records.created('d', 'accepted')
  records.removed('d', 'accepted')
  expect(records.judge(['a', 'other'])).toEqual([])
  expect(records.judge(['a', 'c'])).toEqual([])
  expect(rules(records.judge([]))).toEqual(['an accepted write is stored'])
  expect(rules(records.judge(['a', 'b']))).toEqual(['a refused write is not stored'])
  expect(rules(records.judge(['a', 'd']))).toEqual(['a refused write is not stored'])
  expect(records.judge(['a', 'd'], ['a'])).toEqual([])
  expect(rules(records.judge(['a', 'a']))).toEqual(['an accepted write is stored once'])
})

test('a record whose removal had no response may be stored or not', () => {
  const records = openRecordSet(1, 'playlist')
  records.created('a', 'accepted')
  records.removed('a', 'unknown')
  expect(records.judge([])).toEqual([])
  expect(records.judge(['a'])).toEqual([])
})
