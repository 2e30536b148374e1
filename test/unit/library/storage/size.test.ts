import { assert, bigInt, option, property } from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  computeCapacity,
  formatSize,
  isStorageFull,
  parseSize,
  usedPercent
} from '../../../../src/library/storage/size.ts'

const bytes = bigInt({ min: 0n, max: 2n ** 63n - 1n })
const known = option(bytes)

describe('bytes are formatted', () => {
  test.for([
    [0n, '0.0 B'],
    [999n, '999.0 B'],
    [1000n, '1000.0 B'],
    [1023n, '1023.0 B'],
    [1024n, '1.0 KB'],
    [1536n, '1.5 KB'],
    [60000n, '58.5 KB'],
    [120000n, '117.1 KB'],
    [1048575n, '1023.9 KB'],
    [1048576n, '1.0 MB'],
    [1000000000n, '953.6 MB'],
    [53687091200n, '50.0 GB'],
    [1099511627776n, '1.0 TB'],
    [9007199254740993n, '8.0 PB'],
    [9223372036854775807n, '7.9 EB'],
    [1024n ** 7n, '1.0 ZB'],
    [1024n ** 9n, '1024.0 YB']
  ] as const)('%d: %s', ([value, text]) => {
    expect(formatSize(value)).toBe(text)
  })
})

describe('a size is parsed', () => {
  test.for([
    ['50 GB', 53687091200n],
    ['1.5gb', 1610612736n],
    ['2.5 K', 2560n],
    ['0.1 MiB', 104857n],
    ['1024', 1024n],
    ['  7 b ', 7n],
    ['9007199254740993', 9007199254740993n],
    ['2 YB', 2n * 1024n ** 8n],
    ['', 0n],
    ['0', 0n]
  ] as const)('%s', ([text, value]) => {
    expect(parseSize(text)).toBe(value)
  })

  test.for(['-1', '5O GB', '1,5 GB', '.5 GB', '1. GB', '1 GBB', '1 iB2', ' ', 'GB', '1e3', '9'.repeat(65)])(
    '%s is invalid',
    text => {
      expect(parseSize(text)).toBeNull()
    }
  )
})

test('parsing a formatted size loses less than a tenth of the unit', () => {
  assert(
    property(bytes, value => {
      const back = parseSize(formatSize(value)) ?? -1n
      expect(back).toBeLessThanOrEqual(value)
      // A tenth of the unit, which is at most the value, and a rounded-off byte.
      expect(value - back).toBeLessThanOrEqual(value / 10n + 1n)
    })
  )
})

describe('used of available is', () => {
  test.for([
    [0n, 120000n, 0, false],
    [1n, 120000n, 1, false],
    [60000n, 120000n, 50, false],
    [119999n, 120000n, 99, false],
    [120000n, 120000n, 100, true],
    [120001n, 120000n, 100, true],
    [1n, 3n, 33, false],
    [2n, 3n, 67, false],
    [1n, 200n, 1, false],
    [3n, 200n, 2, false],
    [0n, 0n, 0, false],
    [5n, 0n, 100, false],
    [5n, null, 0, false]
  ] as const)('%d of %s: %d percent, full: %s', ([used, available, percent, full]) => {
    expect(usedPercent(used, available)).toBe(percent)
    expect(isStorageFull(used, available)).toBe(full)
  })
})

test('percent is 0 only if nothing is used or the capacity is unknown, and 100 only if all is used', () => {
  assert(
    property(bytes, known, (used, available) => {
      const percent = usedPercent(used, available)
      expect(percent === 0).toBe(used === 0n || available === null)
      expect(percent === 100).toBe(used > 0n && available !== null && used >= available)
      expect(Number.isInteger(percent) && percent >= 0 && percent <= 100).toBe(true)
    })
  )
})

describe('with 40 bytes used, the capacity is', () => {
  test.for([
    [0n, null, null],
    [100n, null, 100n],
    [0n, 10n, 50n],
    [100n, 10n, 50n],
    [45n, 10n, 45n],
    [30n, 10n, 30n]
  ] as const)('for a quota of %d and %s free: %s', ([quota, free, capacity]) => {
    expect(computeCapacity(quota, 40n, free)).toBe(capacity)
  })
})
