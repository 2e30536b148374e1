import { expect, test } from 'vitest'

import { etagMatches } from '../../../src/http/variants.ts'

test.each([
  ['W/"abc-1"', true],
  ['"abc-1"', true],
  ['*', true],
  [' * ', true],
  ['W/"x", W/"abc-1"', true],
  ['"x","abc-1"', true],
  ['', false],
  ['W/"abc-2"', false],
  ['abc-1', false],
  ['W/"abc-1', false],
  ['"x abc-1"', false]
])('%s names the tag: %s', (header, is) => {
  expect(etagMatches(header, 'W/"abc-1"')).toBe(is)
})

test.each(['*', '""', 'W/"abc-1"', ''])('%s does not match an empty tag', header => {
  expect(etagMatches(header, '')).toBe(false)
})
