import { assert, json, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { ApiError } from '../../../../src/platform/runtime/errors.ts'
import {
  isJsonType,
  maxJsonValues,
  parseJsonBody,
  parseLargeJsonBody
} from '../../../../src/platform/text/json-body.ts'
import { maxJsonDepth } from '../../../../src/platform/text/json-parts.ts'
import { anyCharacter } from '../../../support/any-text.ts'

const parse = (text: string) => parseJsonBody(Buffer.from(text))
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const isRefused = (text: string) => {
  try {
    parse(text)
    return false
  } catch (error) {
    return error instanceof ApiError && error.status === 400
  }
}

describe('a body', () => {
  test('that is empty is undefined', () => {
    expect(parse('')).toBeUndefined()
  })

  test.for(['{"a":[{"__proto__":{"isAdmin":true},"b":1}]}', '{"\\u005f_proto__":{"isAdmin":true}}'])(
    'that has a field named __proto__ is refused, however it is written: %s',
    text => {
      expect(() => parse(text)).toThrow('A field cannot be named __proto__.')
    }
  )

  test('may be nested up to the limit', () => {
    expect(JSON.stringify(parse(nested(maxJsonDepth)))).toBe(nested(maxJsonDepth))
    expect(() => parse(nested(maxJsonDepth + 1))).toThrow('levels deep')
    expect(() => parse(nested(400_000))).toThrow('levels deep')
  })

  test('may have values up to the limit, however many commas its texts have', () => {
    const list = (count: number) => `[${'0,'.repeat(count - 2)}0]`
    expect(parse(list(maxJsonValues))).toHaveLength(maxJsonValues - 1)
    expect(() => parse(list(maxJsonValues + 1))).toThrow('more than 20,000 values')
    expect(() => parse(`[${'[],'.repeat(maxJsonValues)}0]`)).toThrow('more than 20,000 values')
    for (const end of ['', '\\\\', '\\"', '\\\\\\"']) {
      const text = `{"a":"${',[{'.repeat(maxJsonValues)}${end}","b":[]}`
      expect(parse(text)).toEqual(JSON.parse(text))
    }
    expect(() => parse(`{"a":"\\\\",${list(maxJsonValues)}`)).toThrow('values')
    const maxValues = maxJsonValues + 1
    expect(parseJsonBody(Buffer.from(list(maxValues)), { maxValues })).toHaveLength(maxJsonValues)
  })

  test('with too many values is refused with the name of the member that has them', () => {
    const list = Array.from({ length: maxJsonValues }, () => ({ name: 1 }))
    const refuse = (body: object) => {
      try {
        return parse(JSON.stringify(body))
      } catch (error) {
        return error instanceof ApiError && error.extraData
      }
    }
    expect(refuse({ a: 1, media_ids: list, b: 1 })).toMatchObject({
      errors: [{ field: 'media_ids', code: 'too_long' }]
    })
    expect(refuse(list)).toMatchObject({ errors: [{ field: '', code: 'too_long' }] })
  })

  test('with an object of too many members is refused', () => {
    const members = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`
    expect(Object.keys(Object(parse(members(1_000))))).toHaveLength(1_000)
    expect(() => parse(`[${members(1_001)}]`)).toThrow('more than 1000 members')
  })

  test('that is not UTF-8 is refused', () => {
    expect(() => parseJsonBody(Uint8Array.of(0x22, 0xff, 0x22))).toThrow('not valid UTF-8')
  })

  test('of a radio program has texts in any encoding', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"artist": "Кино", "title": "'),
      Buffer.from('Caf\u00E9 \\u00e9 \x80"}', 'latin1')
    ])
    expect(parseJsonBody(bytes, { charset: null })).toEqual({ artist: 'Кино', title: 'Café é €' })
    const koi = Buffer.from('{"title": "\xEB\xC9\xCE\xCF"}', 'latin1')
    expect(parseJsonBody(koi, { charset: 'koi8-r' })).toEqual({ title: 'Кино' })
  })

  test('that is large lets others run before it is parsed, and is parsed or refused as a small one', async () => {
    const list = Array.from({ length: 5_000 }, (_, index) => ({ [`name ${index}`]: 'value', b: index }))
    let turns = 0
    const parsing = parseLargeJsonBody(Buffer.from(JSON.stringify({ list })))
    setImmediate(() => (turns += 1))
    expect(await parsing).toEqual({ list })
    expect(turns).toBe(1)
    const parseLarge = (text: string, maxValues = maxJsonValues) =>
      parseLargeJsonBody(Buffer.from(text), { maxValues })
    await expect(parseLarge(`{"list":${JSON.stringify(list)},}`)).rejects.toThrow('not valid JSON')
    await expect(parseLarge(JSON.stringify({ list }), 100)).rejects.toThrow('more than 100 values')
    const proto = `{"list":${JSON.stringify(list)},"a":[{"__proto__":1}]}`
    await expect(parseLarge(proto)).rejects.toThrow('A field cannot be named __proto__.')
    for (const token of [`"${'a'.repeat(300_000)}"`, '1'.repeat(300_000), ' '.repeat(300_000)])
      await expect(parseLarge(`[${token}]`)).rejects.toThrow('more than 262144 characters')
    const text = 'a'.repeat(250_000)
    expect(await parseLargeJsonBody(Buffer.from(JSON.stringify({ text })))).toEqual({ text })
  })

  test('is either parsed like JSON or refused with 400', () => {
    assert(
      property(json({ stringUnit: anyCharacter }), text => text.includes('"__proto__":') || !isRefused(text))
    )
    assert(
      property(
        oneof(json({ stringUnit: anyCharacter }), string()),
        text => isRefused(text) || JSON.parse(text || 'null') !== undefined
      )
    )
  })
})

test.each([
  ['', true],
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/vnd.api+json', true],
  ['text/plain', false],
  ['application/x-www-form-urlencoded', false],
  ['application/jsonp', false],
  ['multipart/form-data; boundary=application/json', false]
])('content type "%s" counts as JSON: %s', (type, expected) => {
  expect(isJsonType(type)).toBe(expected)
})
