import { expect, test } from 'vitest'

import { openPace } from '../../../src/http/pace.ts'

const bytesPerSecond = 10_000_000
const clockToleranceMs = 2

/** Returns how long `count` pieces take that callers in parallel send, in milliseconds. */
async function measure(count: number, callers: number, pieceBytes: number): Promise<number> {
  const pace = openPace(bytesPerSecond)
  const startedMs = performance.now()
  const send = async () => {
    for (let sent = 0; sent < count / callers; sent++) await pace(pieceBytes)
  }
  await Promise.all(Array.from({ length: callers }, send))
  return performance.now() - startedMs
}

test('what comes after the first second is received at the rate, by all callers together', async () => {
  for (const callers of [1, 4]) {
    // 12 MB: the first 10 at once, and 2 in 200 ms.
    expect(await measure(48, callers, 250_000)).toBeGreaterThan(200 - clockToleranceMs)
  }
})

test('the first second does not wait', async () => {
  const pace = openPace(bytesPerSecond)
  const isWaiting = Symbol('waiting')
  const first = pace(bytesPerSecond - 1)
  expect(await Promise.race([first, new Promise(resolve => setImmediate(resolve, isWaiting))])).not.toBe(
    isWaiting
  )
})

test('without a limit nothing waits', async () => {
  const pace = openPace(0)
  const isWaiting = Symbol('waiting')
  for (let sent = 0; sent < 10; sent++) {
    const turn = new Promise(resolve => setImmediate(resolve, isWaiting))
    expect(await Promise.race([pace(1e12), turn])).not.toBe(isWaiting)
  }
})

test('callers take turns', async () => {
  const pace = openPace(bytesPerSecond)
  await pace(bytesPerSecond)
  const order: string[] = []
  const send = async (name: string) => {
    for (let sent = 0; sent < 3; sent++) {
      await pace(50_000)
      order.push(name)
    }
  }
  await Promise.all([send('a'), send('b')])
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
})

test('a caller that leaves no longer waits', async () => {
  const pace = openPace(1)
  const left = new AbortController()
  const waiting = pace(1e9, left.signal)
  left.abort()
  await expect(waiting).resolves.toBeUndefined()
  await expect(pace(1e9, AbortSignal.abort())).resolves.toBeUndefined()
})
