import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { renderCsvLine, renderCsvReply, unescapeFormula } from '../../../src/api/core/csv.ts'
import { anyText } from '../../support/any-text.ts'

test('a line quotes cells where required, and ends with CR LF', () => {
  expect(renderCsvLine(['Night Ferry', 'a,b', 'say "hi"', 'two\nlines', '', -2, true])).toBe(
    'Night Ferry,"a,b","say ""hi""","two\nlines",,-2,true\r\n'
  )
})

test.for(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', "'=1"])(
  'a text that looks like a formula is escaped: %j',
  text => {
    expect(renderCsvLine([text]).replace(/^"/, '')).toMatch(/^'/)
  }
)

test('an apostrophe that begins no formula remains alone', () => {
  expect(renderCsvLine(["'Til Tuesday"])).toBe("'Til Tuesday\r\n")
  expect(unescapeFormula("'39")).toBe("'39")
})

test('parsing a line returns the original texts, whatever they begin with', () => {
  const beginning = fc.constantFrom('', "'", "''", '=', "'=", "''-", '+', '@', '\t', "'\t", ' ', '"')
  const text = fc.tuple(beginning, anyText()).map(([start, rest]) => start + rest)
  fc.assert(
    fc.property(fc.array(text, { minLength: 2 }), texts => {
      expect(readLine(renderCsvLine(texts)).map(unescapeFormula)).toEqual(texts)
    })
  )
})

test('a file begins with a byte order mark', () => {
  expect(renderCsvReply('a', 'b').body).toBe('\uFEFFb')
  expect(Buffer.from(renderCsvReply('a', Buffer.from('b')).body ?? '').toString()).toBe('\uFEFFb')
})

/** Reads one line by RFC 4180. */
function readLine(line: string): string[] {
  const cells = `${line.slice(0, -2)},`.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/g)
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
}
