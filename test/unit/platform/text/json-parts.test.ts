import { assert, constantFrom, integer, json, property, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseJsonInParts } from '../../../../src/platform/text/json-parts.ts'
import { sized } from '../../../support/tier.ts'

const numRuns = sized({ quick: 2_000, deep: 50_000 })

function parse(text: string, partLength: number): { readonly value: unknown; readonly steps: number } {
  const parts = parseJsonInParts(text, { maxValues: Infinity, partLength })
  for (let steps = 0; ; steps++) {
    const step = parts.next()
    if (step.done) return { value: step.value, steps }
  }
}

/** The result as text, with the order of members; null: it is refused. */
function resultOf(parseText: () => unknown): string | null {
  try {
    return JSON.stringify(parseText()) ?? null
  } catch {
    return null
  }
}

const isAsBuiltIn = (text: string, partLength: number) =>
  resultOf(() => parse(text, partLength).value) === resultOf(() => JSON.parse(text))

describe('JSON that is parsed in parts', () => {
  test('has the value of JSON.parse, however small the parts are', () => {
    assert(
      property(json(), integer({ min: 0, max: 20 }), (text, partLength) => isAsBuiltIn(text, partLength)),
      { numRuns }
    )
  })

  test('with spaces, other characters, or parts that are missing or twice, is refused exactly when JSON.parse refuses it', () => {
    const change = tuple(
      integer({ min: 0, max: 60 }),
      integer({ min: 0, max: 3 }),
      constantFrom(
        '',
        ' ',
        '\n',
        ',',
        '[',
        ']',
        '{',
        '}',
        '"',
        '\\',
        ':',
        '0',
        'null',
        '[1,2,3]',
        '{"a":1,"b":2}',
        '\u00a0'
      )
    )
    assert(
      property(json(), change, change, integer({ min: 0, max: 9 }), (text, first, second, partLength) => {
        const changed = [first, second].reduce(
          (before, [at, removed, added]) => before.slice(0, at) + added + before.slice(at + removed),
          text
        )
        return isAsBuiltIn(changed, partLength)
      }),
      { numRuns }
    )
    assert(property(string(), integer({ min: 0, max: 9 }), isAsBuiltIn), { numRuns })
  })

  test.for([
    '[[1,2],[3,4],[5,6]]',
    '[[1,2] [3,4]]',
    '[[1,2],]',
    '[,[1,2]]',
    '[[1,2]3]',
    '[1,2}',
    '[[1,2},3]',
    '{"a":1{"b":2,"c":3}}',
    '{"a":1,"a":{"b":2,"c":3},"a":4,"d":5}',
    '{"a" "b":{"c":2,"d":3}}',
    '{"a":{"b":2,"c":3}"d":4}',
    '{"__proto__":{"a":1,"b":2},"c":3}',
    '[1,2][3,4]',
    '[1,2] x',
    'x[1,2]',
    ' [1,2] ',
    '[1,2],[3,4]',
    '{"2":[1,2],"1":[3,4],"b":0,"a":0}',
    '["]","\\\\",",",[1,2]]'
  ])('is read or refused as JSON.parse does it: %s', text => {
    for (const partLength of [0, 1, 2, 3, 5, 8]) expect(isAsBuiltIn(text, partLength)).toBe(true)
  })

  test('pauses within texts, numbers, white space and lists', () => {
    for (const text of [
      `"${'\\"'.repeat(50_000)}"`,
      '1'.repeat(100_000),
      `[${' '.repeat(100_000)}]`,
      `[${'0,'.repeat(50_000)}0]`
    ])
      expect(parse(text, 1_000).steps).toBeGreaterThan(90)
  })
})
