import { expect, test } from 'vitest'

import { startInStat, startOf } from '../../../src/embedded/process-identity.ts'

const rest = '1 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 10'

test('the start of a process is field 22, whatever its name looks like', () => {
  expect(startInStat(`42 (node) S ${rest}`)).toBe('98765')
  expect(startInStat(`42 (a) b (c d) S ${rest}`)).toBe('98765')
})

test('a process that nobody reaped, or that is not there, has no start', () => {
  expect(startInStat(`42 (node) Z ${rest}`)).toBeUndefined()
  expect(startInStat('')).toBeUndefined()
})

test('a process has the same start each time it is asked', async () => {
  const start = await startOf(process.pid)
  expect(start).toMatch(/^\d+$/)
  expect(await startOf(process.pid)).toBe(start)
})
