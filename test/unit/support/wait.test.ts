import { expect, test } from 'vitest'

import { patience, waitFor } from '../../support/wait.ts'

test('waitFor returns the result of the condition', async () => {
  let asked = 0
  expect(
    await waitFor(() => (++asked === 3 ? 'three' : undefined), { deadlineMs: 5_000, what: 'three' })
  ).toBe('three')
})

test('waitFor times out with an error that has the description and the last error', async () => {
  const waiting = waitFor(() => Promise.reject(new Error('not yet')), { deadlineMs: 30, what: 'the moon' })
  await expect(waiting).rejects.toThrow(`waited ${30 * patience} ms in vain for the moon: not yet`)
})
