import { expect, test } from 'vitest'

import { OperatorError } from '../../../src/runtime/errors.ts'
import { isStoreFault, toOperatorError } from '../../../src/runtime/store-errors.ts'

const faultOf = (code: string) => Object.assign(new Error('a fault'), { code })

test('errors of a store that is unreachable, overloaded or read-only are worth a retry', () => {
  const temporary = ['ECONNREFUSED', '57P01', '53300', '55P03', '57014', '25P03', '25006', '40001', '40P01']
  const permanent = ['23505', '22003', '42601', '25001']
  expect(temporary.filter(code => !isStoreFault(faultOf(code)))).toEqual([])
  expect(permanent.filter(code => isStoreFault(faultOf(code)))).toEqual([])
})

test('errors of Postgres that an operator can solve say in one line what to do', () => {
  const solvable = ['25006', '28000', '28P01', '3D000', '3F000', '42501', '53100', '53300']
  const messages = solvable.map(code => toOperatorError(faultOf(code))?.message ?? code)
  expect(messages.filter(message => !/^[^\n]+ \(a fault\): [^\n]+$/.test(message))).toEqual([])
  const own = new OperatorError('PORT is in use')
  expect(toOperatorError(own)).toBe(own)
  for (const error of [faultOf('23505'), faultOf('ENOENT'), new Error('a bug'), 'text'])
    expect(toOperatorError(error)).toBe(null)
})
