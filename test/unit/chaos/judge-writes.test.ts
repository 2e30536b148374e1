import { expect, test } from 'vitest'

import { openRecordSet, openRegister, outcomeOfStatus } from '../../chaos/judge-writes.ts'

const rules = (found: readonly { rule: string }[]) => found.map(({ rule }) => rule)

test('only an answer says what became of a write', () => {
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

test('a register holds what was accepted last', () => {
  const register = openRegister(1, 'description', 'first')
  expect(register.judge('first')).toEqual([])
  register.wrote('second', 'accepted')
  register.wrote('bad', 'refused')
  expect(register.judge('second')).toEqual([])
  expect(rules(register.judge('first'))).toEqual(['an accepted write is there'])
  expect(rules(register.judge('bad'))).toEqual(['an accepted write is there'])
})

test('a write without an answer may be there or not, and may come late', () => {
  const register = openRegister(1, 'description', 'first')
  register.wrote('second', 'unknown')
  register.wrote('third', 'accepted')
  expect(register.judge('third')).toEqual([])
  expect(register.judge('second')).toEqual([])
  expect(rules(register.judge('first'))).toEqual(['an accepted write is there'])
})

test('accepted records are there, and refused and removed ones are not', () => {
  const records = openRecordSet(1, 'playlist')
  records.created('a', 'accepted')
  records.created('b', 'refused')
  records.created('c', 'unknown')
  records.created('d', 'accepted')
  records.removed('d', 'accepted')
  expect(records.judge(['a', 'other'])).toEqual([])
  expect(records.judge(['a', 'c'])).toEqual([])
  expect(rules(records.judge([]))).toEqual(['an accepted write is there'])
  expect(rules(records.judge(['a', 'b']))).toEqual(['a refused write left nothing'])
  expect(rules(records.judge(['a', 'd']))).toEqual(['a refused write left nothing'])
  expect(records.judge(['a', 'd'], ['a'])).toEqual([])
  expect(rules(records.judge(['a', 'a']))).toEqual(['an accepted write is there once'])
})

test('a removal without an answer leaves a record that may be there', () => {
  const records = openRecordSet(1, 'playlist')
  records.created('a', 'accepted')
  records.removed('a', 'unknown')
  expect(records.judge([])).toEqual([])
  expect(records.judge(['a'])).toEqual([])
})
