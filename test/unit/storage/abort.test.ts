import { expect, test } from 'vitest'

import { untilAborted } from '../../../src/storage/fault.ts'

const never = new Promise<never>(() => {})

test('what never comes is given up when the time is up', async () => {
  await expect(untilAborted(AbortSignal.timeout(10), never)).rejects.toMatchObject({ word: 'timed_out' })
})

test('what is aborted for another reason says that reason', async () => {
  const reason = new Error('the program ends')
  await expect(untilAborted(AbortSignal.abort(reason), never)).rejects.toBe(reason)
})

test('what comes in time arrives, and so does its failure', async () => {
  const { signal } = new AbortController()
  await expect(untilAborted(signal, Promise.resolve(7))).resolves.toBe(7)
  await expect(untilAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})
