import { expect, test } from 'vitest'

import { renderApiError } from '../../../../src/http/error-body.ts'
import { ApiError, fieldError } from '../../../../src/platform/runtime/errors.ts'

test('an error of a megabyte that was sent is short', () => {
  const sent = '"'.repeat(1_000_000)
  const errors = ApiError.ofFields([fieldError(sent, 'invalid_type', sent)])
  for (const error of [new ApiError('invalid', sent), errors])
    expect(renderApiError(error).length).toBeLessThan(30_000)
  expect(new ApiError('invalid', `${'a'.repeat(1_999)}\u{1F3B5}`).message).toBe(`${'a'.repeat(1_999)}...`)
})
