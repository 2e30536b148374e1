import { expect, test } from 'vitest'

import { countedRequestIdBytes, chooseRequestId, writeCountedRequestId } from '../../../src/http/headers.ts'

test('counted ids are valid, unique, and have a fixed length', () => {
  const seen = new Set<string>()
  const room = Buffer.from(`${'?'.repeat(countedRequestIdBytes)}|`)
  for (let n = 0; n < 2_500; n++) {
    writeCountedRequestId(room)
    expect(room.toString()).toMatch(/^[0-9a-f]{12}-\d{10}\|$/)
    const id = room.toString().slice(0, -1)
    expect(chooseRequestId(id)).toBe(id)
    seen.add(id)
  }
  expect(seen.size).toBe(2_500)
})
