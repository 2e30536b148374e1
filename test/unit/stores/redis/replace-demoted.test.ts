import { expect, test, vi } from 'vitest'

import { openReplacementLimit } from '../../../../src/stores/redis/replace-demoted.ts'

test('a connection that is refused again and again is replaced at once, and then at most every two seconds', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const mayReplace = openReplacementLimit()
    const atMs: number[] = []
    for (let ms = 0; ms < 20_000; ms += 10) {
      if (mayReplace()) atMs.push(ms)
      vi.advanceTimersByTime(10)
    }
    expect(atMs[0]).toBe(0)
    expect(atMs.length).toBeGreaterThan(9)
    expect(atMs.length).toBeLessThan(17)
    vi.advanceTimersByTime(15_000)
    // A new fault begins with short pauses.
    expect(mayReplace()).toBe(true)
    vi.advanceTimersByTime(400)
    expect(mayReplace()).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})
