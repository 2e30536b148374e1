import { expect, test } from 'vitest'

import { openSemaphore } from '../../../../web/dashboard/stations/semaphore.ts'

test('a semaphore serves callers in order, up to its limit', () => {
  const semaphore = openSemaphore(2)
  const acquired: string[] = []
  const releases = ['a', 'b', 'c', 'd'].map(name => semaphore.acquire(() => acquired.push(name)))
  expect(acquired).toEqual(['a', 'b'])
  releases[2]?.()
  releases[0]?.()
  releases[0]?.()
  expect(acquired).toEqual(['a', 'b', 'd'])
})
