import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, test } from 'vitest'

import { withAbortTimeout } from '../../../../src/platform/runtime/deadline.ts'
import { waitFor } from '../../../support/wait.ts'

/** Waits until the signal is aborted, like a call that never returns. */
async function hang(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

test('a call is aborted after its timeout, even if garbage was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const { signal } = new AbortController()
  let reason: unknown
  void withAbortTimeout(signal, 300, hang).catch((error: unknown) => {
    reason = error
  })
  await waitFor(
    () => {
      collectGarbage()
      return reason !== undefined
    },
    { deadlineMs: 5_000, what: 'the timeout' }
  )
  expect(reason).toMatchObject({ name: 'TimeoutError' })
})

test('a call is aborted with the reason of the signal, before and during it', async () => {
  const reason = new Error('shutdown')
  await expect(withAbortTimeout(AbortSignal.abort(reason), 60_000, hang)).rejects.toBe(reason)
  const stop = new AbortController()
  const running = withAbortTimeout(stop.signal, 60_000, hang)
  stop.abort(reason)
  await expect(running).rejects.toBe(reason)
})

test('the error of a timeout can be chosen, and a result in time is returned', async () => {
  const { signal } = new AbortController()
  const late = new Error('late')
  await expect(withAbortTimeout(signal, 1, hang, () => late)).rejects.toBe(late)
  await expect(withAbortTimeout(signal, 60_000, async () => 7)).resolves.toBe(7)
})
