import { expect, test } from 'vitest'

import { renderTextTable } from '../../../../src/commands/simulate/report-text.ts'

test('words are left-aligned, numbers and times right-aligned', () => {
  const rows = [
    ['Gold', '1,400', '30.2 %', '2:05'],
    ['New music', '6', '+1.5', '']
  ]
  expect(renderTextTable(['list', 'plays', 'share', ''], rows)).toEqual([
    '  list       plays   share',
    '  Gold       1,400  30.2 %  2:05',
    '  New music      6    +1.5'
  ])
})

test('a table without rows has no lines', () => {
  expect(renderTextTable(['list'], [])).toEqual([])
})
