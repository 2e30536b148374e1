import { setImmediate } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { readMultipart } from '../../../src/api/library/uploads/multipart-body.ts'
import { ApiError } from '../../../src/runtime/errors.ts'

test('a file that is refused before it has arrived does not end the process', async () => {
  const head = '--b\r\nContent-Disposition: form-data; name="other"; filename="a.mp3"\r\n\r\n'
  const pieces = [head, 'x'.repeat(1_000), 'x'.repeat(1_000), '\r\n--b--\r\n'].map(text => Buffer.from(text))
  const stream = {
    size: null,
    nameIgnored: () => {},
    // The refusal precedes the rest of the file.
    read: async () => {
      await setImmediate()
      return pieces.shift() ?? null
    }
  }
  const refusal = new ApiError('invalid', 'other is not the field of the file.')
  const reading = readMultipart(stream, 'multipart/form-data; boundary=b', () => Promise.reject(refusal))
  await expect(reading).rejects.toBe(refusal)
  expect(pieces.length).toBeGreaterThan(0)
  // An error event without a listener is thrown in a later turn, which Vitest reports.
  await setImmediate()
})
