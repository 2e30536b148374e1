import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { renderJsonInSlices } from '../../../src/api/core/json-slices.ts'

test('objects are rendered in parts that are the same JSON together', async () => {
  const anyObject = fc.dictionary(
    fc.string(),
    fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constant(undefined))
  )
  await fc.assert(
    fc.asyncProperty(anyObject, fc.integer({ min: 1, max: 4 }), async (object, depth) => {
      expect(await renderJsonInSlices(object, depth)).toBe(JSON.stringify(object))
    })
  )
})
