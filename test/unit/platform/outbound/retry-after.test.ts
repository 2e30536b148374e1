import { describe, expect, test } from 'vitest'

import { parseRetryAfter } from '../../../../src/platform/outbound/retry-after.ts'

const atMs = 1_767_950_000_000

describe('Retry-After', () => {
  const cases: [name: string, status: number, header: string | undefined, ms: number | null][] = [
    ['seconds', 429, '120', 120_000],
    ['blanks around', 503, ' 7 ', 7_000],
    ['a date', 502, new Date(atMs + 9_000).toUTCString(), 9_000],
    ['a date that is over', 504, new Date(atMs - 9_000).toUTCString(), 0],
    ['a status that gives it no meaning', 500, '120', null],
    ['none', 429, undefined, null],
    ['nonsense', 429, 'soon', null],
    ['a negative number', 429, '-5', null]
  ]
  test.each(cases)('%s', (_, status, header, ms) => {
    expect(parseRetryAfter(status, header, atMs)).toBe(ms)
  })
})
