import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { openTokenRenewal } from '../../../web/client/tokens.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Tokens `t1`, `t2`, ..., valid for 100 seconds, and rejections while `isFailing`. */
function openSource() {
  const source = { count: 0, renewals: 0, isFailing: false }
  const load = async () => {
    source.count++
    if (source.isFailing) throw new Error('the website does not answer')
    return { token: `t${source.count}`, expires_in: 100 }
  }
  const tokens = openTokenRenewal(load, () => void source.renewals++)
  return { source, tokens }
}

test('a token is requested once, and renewed before it expires', async () => {
  const { source, tokens } = openSource()
  await Promise.all([tokens.ready(), tokens.ready()])
  await tokens.ready()
  expect([tokens.current(), source.count]).toEqual(['t1', 1])
  await vi.advanceTimersByTimeAsync(69_000)
  expect(source.renewals).toBe(0)
  await vi.advanceTimersByTimeAsync(22_000)
  expect([tokens.current(), source.renewals]).toEqual(['t2', 1])
  tokens.close()
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(source.count).toBe(2)
})

test('after a refusal the next connection gets another token, and so does an open one', async () => {
  const { source, tokens } = openSource()
  await tokens.ready()
  tokens.discard()
  await tokens.ready()
  expect(tokens.current()).toBe('t2')
  tokens.discard()
  tokens.discard()
  await vi.advanceTimersByTimeAsync(31_000)
  expect([tokens.current(), source.renewals]).toEqual(['t3', 1])
})

test('a failing source fails connections without more requests for a while, and renewal is tried again', async () => {
  const { source, tokens } = openSource()
  source.isFailing = true
  await expect(tokens.ready()).rejects.toThrow('does not answer')
  await expect(tokens.ready()).rejects.toThrow('no listen token')
  expect(source.count).toBe(1)
  await vi.advanceTimersByTimeAsync(2_000)
  source.isFailing = false
  await tokens.ready()
  expect(tokens.current()).toBe('t2')
  source.isFailing = true
  await vi.advanceTimersByTimeAsync(95_000)
  source.isFailing = false
  await vi.advanceTimersByTimeAsync(31_000)
  expect(source.renewals).toBe(1)
})
