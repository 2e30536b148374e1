import { expect, test } from 'vitest'

import { isStoreFault } from '../../src/runtime/store-errors.ts'

const faultOf = (code: string) => Object.assign(new Error('a fault'), { code })

test('the same call may succeed later where Postgres is away, busy or only reads, and not where it refuses', () => {
  const passing = ['ECONNREFUSED', '57P01', '53300', '55P03', '57014', '25P03', '25006', '40001', '40P01']
  const lasting = ['23505', '22003', '42601', '25001']
  expect(passing.filter(code => !isStoreFault(faultOf(code)))).toEqual([])
  expect(lasting.filter(code => isStoreFault(faultOf(code)))).toEqual([])
})
