import { expect, test } from 'vitest'

import { parseProcessStart, readProcessStart } from '../../../../src/stores/embedded/process-identity.ts'

const rest = '1 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 10'

test('the start of a process is field 22, also if its name contains spaces or parentheses', () => {
  expect(parseProcessStart(`42 (node) S ${rest}`)).toBe('98765')
  expect(parseProcessStart(`42 (a) b (c d) S ${rest}`)).toBe('98765')
})

test('a zombie and a process that does not exist have no start', () => {
  expect(parseProcessStart(`42 (node) Z ${rest}`)).toBeUndefined()
  expect(parseProcessStart('')).toBeUndefined()
})

test('the start of a process is stable', async () => {
  const start = await readProcessStart(process.pid)
  expect(start).toMatch(/^\d+$/)
  expect(await readProcessStart(process.pid)).toBe(start)
})
