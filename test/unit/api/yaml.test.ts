import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

import { renderYaml } from '../../../src/api/core/yaml.ts'

test('objects are rendered in parts that are valid together', async () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('/a/{id}', 'yes', '~', '1', '- x', '? y', 'a: b', '#'))
  const anyObject = fc.dictionary(key, fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })), {
    noNullPrototype: true
  })
  await fc.assert(
    fc.asyncProperty(anyObject, async object => {
      // JSON has no -0.
      const plain: Record<string, unknown> = JSON.parse(JSON.stringify(object))
      const text = await renderYaml(plain, 2)
      expect(text === '' ? {} : parse(text)).toEqual(plain)
    })
  )
})

test('a text of several lines remains one', async () => {
  const object = { a: { b: { c: 'one\n  two\n\nthree\n', d: ['x\ny'] }, e: 'f' }, g: [] }
  expect(parse(await renderYaml(object, 3))).toEqual(object)
})
