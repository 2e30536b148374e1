import { expect, test } from 'vitest'

import { unlessAborted } from '../../../../src/library/storage/storage-fault.ts'

const never = new Promise<never>(() => {})

test('a timeout rejects with a fault', async () => {
  await expect(unlessAborted(AbortSignal.timeout(10), never)).rejects.toMatchObject({ reason: 'timed_out' })
})

test('another reason of the signal is rethrown', async () => {
  const reason = new Error('shutdown')
  await expect(unlessAborted(AbortSignal.abort(reason), never)).rejects.toBe(reason)
})

test('a value or an error before the abort is passed on', async () => {
  const { signal } = new AbortController()
  await expect(unlessAborted(signal, Promise.resolve(7))).resolves.toBe(7)
  await expect(unlessAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})
