import { expect, test, vi } from 'vitest'

import {
  openFairSemaphore,
  type Permit,
  type PermitRefusal
} from '../../../../src/platform/runtime/fair-semaphore.ts'

const options = { total: 2, perOwner: 1, waitingPerOwner: 3, waiting: 5, waitMs: 60_000 }

function permitIn(result: Permit | PermitRefusal): Permit {
  if (typeof result === 'string') throw new Error(result)
  return result
}

test('an owner runs one piece of work at a time, concurrently with other owners', async () => {
  const semaphore = openFairSemaphore(options)
  const order: string[] = []
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  void semaphore.acquire('a', 100).permit.then(() => order.push('a'))
  const other = semaphore.acquire('b', 100).permit.then(permit => {
    order.push('b')
    return permitIn(permit)
  })
  await other
  expect(order).toEqual(['b'])
  first.release()
  await vi.waitFor(() => expect(order).toEqual(['b', 'a']))
})

test('work that is done but not released still counts for its owner, and lets other owners run', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1 })
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  first.done()
  let isStarted = false
  void semaphore.acquire('a', 100).permit.then(() => (isStarted = true))
  permitIn(await semaphore.acquire('b', 100).permit).release()
  expect(isStarted).toBe(false)
  first.release()
  await vi.waitFor(() => expect(isStarted).toBe(true))
})

test('a permit that is not free now is not waited for', async () => {
  const semaphore = openFairSemaphore(options)
  const first = semaphore.tryAcquire('a')
  expect(semaphore.tryAcquire('a')).toBeNull()
  const other = semaphore.tryAcquire('b')
  expect(semaphore.tryAcquire('c')).toBeNull()
  other?.release()
  const third = semaphore.tryAcquire('c')
  first?.done()
  expect(semaphore.tryAcquire('a')).toBeNull()
  first?.release()
  third?.release()
  permitIn(await semaphore.acquire('a', 100).permit).release()
})

test('the owner that used the least time lately runs next', async () => {
  let nowMs = 0
  const semaphore = openFairSemaphore({ ...options, total: 1 }, () => nowMs)
  const order: string[] = []
  let running = permitIn(await semaphore.acquire('greedy', 100).permit)
  for (const name of ['greedy', 'greedy', 'modest'])
    void semaphore.acquire(name, 100).permit.then(permit => {
      order.push(name)
      running = permitIn(permit)
    })
  for (const count of [1, 2, 3]) {
    nowMs += 1_000
    running.release()
    await vi.waitFor(() => expect(order).toHaveLength(count))
  }
  expect(order).toEqual(['modest', 'greedy', 'greedy'])
})

test('a small piece of work runs before large ones of owners that used as much', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1 })
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  const order: string[] = []
  for (const [name, expectedMs] of [
    ['large', 500],
    ['small', 1]
  ] as const)
    void semaphore.acquire(name, expectedMs).permit.then(() => order.push(name))
  first.release()
  await vi.waitFor(() => expect(order).toEqual(['small']))
})

test('an owner with one piece of work runs before many that come at once with several', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1, waiting: 100 })
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  const order: string[] = []
  const queue = (name: string) => void semaphore.acquire(name, 100).permit.then(() => order.push(name))
  for (let n = 0; n < 20; n++) for (let piece = 0; piece < 3; piece++) queue(`attacker ${n}`)
  queue('visitor')
  first.release()
  await vi.waitFor(() => expect(order).toEqual(['visitor']))
})

test('waiting work is limited per owner, in total, and in time', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1, waitMs: 20 })
  permitIn(await semaphore.acquire('a', 100).permit)
  const waiting = [1, 2, 3].map(async () => semaphore.acquire('b', 100).permit)
  expect(await semaphore.acquire('b', 100).permit).toBe('owner-full')
  const others = ['c', 'c'].map(async name => semaphore.acquire(name, 100).permit)
  expect(await semaphore.acquire('c', 100).permit).not.toBe('owner-full')
  expect(new Set(await Promise.all([...waiting, ...others]))).toEqual(new Set(['full', 'timed-out']))
})

test('an owner whose queue is long makes room for one with a shorter queue', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1, waiting: 3 })
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  const [next, , last] = [1, 2, 3].map(() => semaphore.acquire('b', 100))
  const modest = semaphore.acquire('c', 100)
  expect(await last?.permit).toBe('full')
  first.release()
  permitIn(await modest.permit).release()
  if (next) permitIn(await next.permit).release()
})

test('work that is dropped makes room for other work', async () => {
  const semaphore = openFairSemaphore({ ...options, total: 1, waiting: 1 })
  const first = permitIn(await semaphore.acquire('a', 100).permit)
  const dropped = semaphore.acquire('b', 100)
  dropped.drop()
  expect(await dropped.permit).toBe('dropped')
  const kept = semaphore.acquire('c', 100).permit
  first.release()
  permitIn(await kept).release()
})

test('work runs in order within its limit, and a failure frees its permit', async () => {
  const semaphore = openFairSemaphore({ total: 1 })
  const events: string[] = []
  const work = (name: string) => async () => {
    events.push(`${name} begins`)
    await Promise.resolve()
    events.push(`${name} ends`)
    if (name === 'first') throw new Error('no')
    return name
  }
  const first = semaphore.run(work('first'))
  const others = [semaphore.run(work('second')), semaphore.run(work('third'))]
  expect(semaphore.waitingOf()).toBe(2)
  await expect(first).rejects.toThrow('no')
  expect(await Promise.all(others)).toEqual(['second', 'third'])
  expect(events).toEqual(['first', 'second', 'third'].flatMap(name => [`${name} begins`, `${name} ends`]))
  expect(semaphore.waitingOf()).toBe(0)
})

test('work of one owner does not wait for that of others', async () => {
  const semaphore = openFairSemaphore({ perOwner: 1 })
  let finish = () => {}
  const hanging = semaphore.run(() => new Promise<void>(resolve => (finish = resolve)), 'slow')
  const waiting = semaphore.run(async () => 'late', 'slow')
  expect(await semaphore.run(async () => 'other', 'fast')).toBe('other')
  expect([semaphore.waitingOf('slow'), semaphore.waitingOf('fast')]).toEqual([1, 0])
  finish()
  await hanging
  expect(await waiting).toBe('late')
})
