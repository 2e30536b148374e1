import { expect, test } from 'vitest'

import { actionResult } from '../../../src/api/core/route.ts'

test('the result of an action has success and a message', () => {
  expect(actionResult('Record deleted.')).toEqual({
    body: '{"success":true,"message":"Record deleted.","formatted_message":"Record deleted."}'
  })
})
