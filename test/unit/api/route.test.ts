import { expect, test } from 'vitest'

import { actionReply } from '../../../src/api/core/route.ts'

test('the result of an action has success and a message', () => {
  expect(actionReply('Record deleted.')).toEqual({
    value: { success: true, message: 'Record deleted.', formatted_message: 'Record deleted.' }
  })
})
