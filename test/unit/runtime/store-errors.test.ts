import { expect, test } from 'vitest'

import { isStoreFault } from '../../../src/runtime/store-errors.ts'

const faultOf = (code: string) => Object.assign(new Error('a fault'), { code })

test('errors of a store that is unreachable, overloaded or read-only are worth a retry', () => {
  const temporary = ['ECONNREFUSED', '57P01', '53300', '55P03', '57014', '25P03', '25006', '40001', '40P01']
  const permanent = ['23505', '22003', '42601', '25001']
  expect(temporary.filter(code => !isStoreFault(faultOf(code)))).toEqual([])
  expect(permanent.filter(code => isStoreFault(faultOf(code)))).toEqual([])
})
