import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { csvLine } from '../../../src/api/core/csv.ts'
import { anyText } from '../../support/any-text.ts'

test('a line quotes cells where required, and ends with CR LF', () => {
  expect(csvLine(['Night Ferry', 'a,b', 'say "hi"', 'two\nlines', '', -2, true])).toBe(
    'Night Ferry,"a,b","say ""hi""","two\nlines",,-2,true\r\n'
  )
})

test.for(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])(
  'a text that looks like a formula is escaped: %j',
  text => {
    expect(csvLine([text]).replace(/^"/, '')).toMatch(/^'/)
  }
)

test('parsing a line returns the original texts', () => {
  fc.assert(
    fc.property(fc.array(anyText(), { minLength: 2 }), texts => {
      const safe = texts.map(text => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text))
      expect(readLine(csvLine(texts))).toEqual(safe)
    })
  )
})

/** Reads one line by RFC 4180. */
function readLine(line: string): string[] {
  const cells = `${line.slice(0, -2)},`.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/g)
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
}
