import { expect, test } from 'vitest'

import { actionResult } from '../../../src/api/core/route.ts'

test('an action that was done answers with success and its message', () => {
  expect(actionResult('Record deleted.')).toEqual({
    body: '{"success":true,"message":"Record deleted.","formatted_message":"Record deleted."}'
  })
})
