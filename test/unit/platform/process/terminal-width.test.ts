import { expect, test } from 'vitest'

import { truncateToWidth } from '../../../../src/platform/process/terminal-width.ts'

test('a line is narrower than the terminal; wide characters count twice', () => {
  expect(truncateToWidth('abcdef', 5)).toBe('abcd')
  expect(truncateToWidth('\u65E5\u672C\u8A9E', 5)).toBe('\u65E5\u672C')
  expect(truncateToWidth('\u{1F600}\u{1F600}', 4)).toBe('\u{1F600}')
  expect(truncateToWidth('x'.repeat(200), undefined).length).toBe(79)
})
