import { expect, test } from 'vitest'

import { openCoalescer, openSingleFlight } from '../../../../src/platform/runtime/coalesce.ts'

/** Work whose runs end on demand, and how many have started. */
function openWork() {
  const ends: (() => void)[] = []
  return {
    run: () => new Promise<number>(resolve => ends.push(() => resolve(ends.length))),
    started: () => ends.length,
    end: (index: number) => ends[index]?.()
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test('calls during a run share one more run, which starts after it', async () => {
  const coalescer = openCoalescer<string, number>()
  const work = openWork()
  const first = coalescer.run('a', work.run)
  const others = [1, 2, 3].map(() => coalescer.run('a', work.run))
  await settled()
  expect(work.started()).toBe(1)
  work.end(0)
  expect(await first).toBe(1)
  await settled()
  expect(work.started()).toBe(2)
  const later = coalescer.run('a', work.run)
  work.end(1)
  expect(await Promise.all(others)).toEqual([2, 2, 2])
  await settled()
  work.end(2)
  expect(await later).toBe(3)
  expect(coalescer.size()).toBe(0)
})

test('runs of different keys are independent', async () => {
  const coalescer = openCoalescer<string, string>()
  void coalescer.run('a', () => new Promise(() => {}))
  expect(await coalescer.run('b', async () => 'done')).toBe('done')
})

test('a failed run is followed by the next one', async () => {
  const coalescer = openCoalescer<string, string>()
  const failed = coalescer.run('a', () => Promise.reject(new Error('no')))
  const next = coalescer.run('a', async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
  expect(coalescer.size()).toBe(0)
})

test('calls during a single flight get its result, by key; later ones run again', async () => {
  const runOnce = openSingleFlight<number>()
  let count = 0
  const work = async () => (count += 1)
  expect(await Promise.all([runOnce(work), runOnce(work), runOnce(work, 'other')])).toEqual([1, 1, 2])
  const failing = async () => Promise.reject(new Error('broken'))
  await expect(Promise.all([runOnce(failing), runOnce(work)])).rejects.toThrow('broken')
  expect(await runOnce(work)).toBe(3)
})
