import { expect, test } from 'vitest'

import { parseMoment } from '../../../src/api/core/moments.ts'

const parse = (text: string) => parseMoment(new URLSearchParams({ at: text }), 'at')
const noon = 1_783_512_000

test.for([
  ['', null],
  ['1783512000', { seconds: noon }],
  ['2026-07-08', { day: '2026-07-08' }],
  ['2026-07-08T12:00:00', { localTime: '2026-07-08T12:00:00' }],
  ['2026-07-08 12:00', { localTime: '2026-07-08T12:00:00' }],
  ['2026-07-08T12:00:00.5', { localTime: '2026-07-08T12:00:00' }],
  ['2026-07-08T12:00:00Z', { seconds: noon }],
  ['2026-07-08t12:00z', { seconds: noon }],
  ['2026-07-08T12:00:00.123456Z', { seconds: noon }],
  ['2026-07-08T14:00:00+02:00', { seconds: noon }],
  ['2026-07-08T14:00:00 02:00', { seconds: noon }],
  ['2026-07-08T14:00:00+0200', { seconds: noon }],
  ['2026-07-08T07:30:00-04:30', { seconds: noon }],
  ['2026-07-08T05:00:00-07', { seconds: noon }],
  ['20260708T120000Z', { seconds: noon }],
  ['20260708T1400+0200', { seconds: noon }],
  ['2026-W28-3', { day: '2026-07-08' }],
  ['2026W283T12:00:00', { localTime: '2026-07-08T12:00:00' }],
  ['2026-W01-1', { day: '2025-12-29' }],
  ['2026-189', { day: '2026-07-08' }],
  ['2026-189T12:00Z', { seconds: noon }],
  ['2026-07-08T12', { localTime: '2026-07-08T12:00:00' }],
  ['2026-07-08 12', { localTime: '2026-07-08T12:00:00' }],
  ['2026-07-08T12Z', { seconds: noon }],
  ['2026-07-08T14+02:00', { seconds: noon }],
  ['2026-07-08T14 02:00', { seconds: noon }],
  ['2026-07-08T07-05', { seconds: noon }],
  ['20260708T12Z', { seconds: noon }],
  ['2026-07', { day: '2026-07-01' }],
  ['2026-W28', { day: '2026-07-06' }],
  ['2026/07/08', { day: '2026-07-08' }],
  ['2026/7/8 12:00Z', { seconds: noon }],
  ['2026-7-8', { day: '2026-07-08' }],
  ['@1783512000', { seconds: noon }]
] as const)('"%s" is read as %o', ([text, moment]) => {
  expect(parse(text)).toEqual(moment)
})

test.for([
  '2026-02-30T12:00:00',
  '0000-01-01T00:00:00',
  '2026-07-08T25:00:00',
  '2026-07-08T12:60:00',
  '2026-366',
  '2026-13',
  '2026/07-08',
  '2026-07-08T1',
  '2026-07-08T25',
  '2026-W54-1',
  '2026-07-08T',
  'yesterday',
  '2026-07-08T12:00:00 Berlin'
])('"%s" is refused, with the name of the parameter', text => {
  expect(() => parse(text)).toThrow('at must be a day (YYYY-MM-DD), an ISO 8601 time or Unix seconds.')
})
