import { expect, test } from 'vitest'

import {
  mapInTimeSlices,
  openTimeSlicedQueue,
  runInTimeSlices
} from '../../../../src/platform/runtime/time-slices.ts'
import { waitFor } from '../../../support/wait.ts'

const soon = { deadlineMs: 5_000, what: 'the work' }

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('items are processed in order, with other work in between', async () => {
  const done: number[] = []
  const queue = openTimeSlicedQueue<number>(1, item => {
    busy(0.5)
    done.push(item)
  })
  for (let item = 0; item < 40; item++) queue.add(item)
  queue.add(3)
  expect(done).toEqual([])
  const seen: number[] = []
  const timer = setInterval(() => seen.push(done.length), 0)
  await waitFor(() => done.length === 40, soon)
  clearInterval(timer)
  expect(done).toEqual(Array.from({ length: 40 }, (_, item) => item))
  expect(seen.filter(count => count > 0 && count < 40).length).toBeGreaterThan(3)
})

test('an item that is added again is processed after those that wait', async () => {
  const done: string[] = []
  const queue = openTimeSlicedQueue<string>(1, item => {
    done.push(item)
    if (done.length === 1) queue.add(item)
  })
  queue.add('a')
  queue.add('b')
  await waitFor(() => done.length === 3, soon)
  expect(done).toEqual(['a', 'b', 'a'])
})

test('a loop in time slices ends with its last step, and rejects with what a step throws', async () => {
  let count = 0
  await runInTimeSlices(1, () => ++count < 100)
  expect(count).toBe(100)
  const failing = runInTimeSlices(1, () => {
    throw new Error('broken')
  })
  await expect(failing).rejects.toThrow('broken')
})

test('a list is mapped in order, with other work in between', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const mapped = await mapInTimeSlices(
    1,
    ['a', 'b', ...Array.from({ length: 40 }, () => 'c')],
    (text, index) => {
      busy(0.5)
      return text + index
    }
  )
  clearInterval(timer)
  expect(mapped.slice(0, 3)).toEqual(['a0', 'b1', 'c2'])
  expect(mapped).toHaveLength(42)
  expect(turns).toBeGreaterThan(3)
  const failing = mapInTimeSlices(1, [1], () => {
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
})
