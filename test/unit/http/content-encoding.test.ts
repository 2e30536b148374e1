import { expect, test } from 'vitest'

import { chooseEncoding, etagMatches } from '../../../src/http/content-encoding.ts'

test.each([
  ['', null],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip;q=0.8, br ; q=0.8', 'br'],
  ['gzip;q=0, br;q=0', null],
  ['gzip;q=0.5, identity', null],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['identity', null],
  ['*;q=0', null],
  ['identity;q=0, *;q=0.1', 'br'],
  ['deflate, zstd', null],
  ['gzip;q=2', null],
  ['gzip;q=-1, br;q=x', null],
  ['x-gzip', null],
  [',,;q=1,', null],
  ['gzip;level=9;q=0', null]
])('"%s" gets %s', (header, chosen) => {
  expect(chooseEncoding(header)).toBe(chosen)
  expect(chooseEncoding(header)).toBe(chosen)
})

test('many different headers have the same result', () => {
  for (let n = 0; n < 500; n++) expect(chooseEncoding(`x${n}, gzip`)).toBe('gzip')
  expect(chooseEncoding('br')).toBe('br')
})

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
