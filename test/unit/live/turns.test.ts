import { expect, test } from 'vitest'

import { openTimeSlices } from '../../../src/live/delays.ts'
import { waitFor } from '../../support/wait.ts'

const soon = { deadlineMs: 5_000, what: 'the work' }

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('work is done in its order, with room for others in between', async () => {
  const done: number[] = []
  const turns = openTimeSlices<number>(item => {
    busy(0.5)
    done.push(item)
  })
  for (let item = 0; item < 40; item++) turns.add(item)
  turns.add(3)
  expect(done).toEqual([])
  const seen: number[] = []
  const timer = setInterval(() => seen.push(done.length), 0)
  await waitFor(() => done.length === 40, soon)
  clearInterval(timer)
  expect(done).toEqual(Array.from({ length: 40 }, (_, item) => item))
  expect(seen.filter(count => count > 0 && count < 40).length).toBeGreaterThan(3)
})

test('what asks for another turn comes after those that wait', async () => {
  const done: string[] = []
  const turns = openTimeSlices<string>(item => {
    done.push(item)
    if (done.length === 1) turns.add(item)
  })
  turns.add('a')
  turns.add('b')
  await waitFor(() => done.length === 3, soon)
  expect(done).toEqual(['a', 'b', 'a'])
})
