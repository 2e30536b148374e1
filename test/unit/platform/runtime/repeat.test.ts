import { pino } from 'pino'
import { expect, test } from 'vitest'

import { openBackoff, repeatWork } from '../../../../src/platform/runtime/repeat.ts'
import { waitFor } from '../../../support/wait.ts'

const deadline = { deadlineMs: 5_000, what: 'the runs' }

function openLog() {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  return { log, lines }
}

test('failures are logged once until a run succeeds', async () => {
  const { log, lines } = openLog()
  const fails = [true, true, false, true, false]
  let runs = 0
  const loop = repeatWork(
    async () => {
      if (fails[runs++]) throw new Error('no')
    },
    { pauseMs: 1, log, failure: 'work failed' }
  )
  await waitFor(async () => runs >= fails.length, deadline)
  await loop.stop()
  expect(lines).toEqual(['work failed; retrying', 'work failed; retrying'])
})

test('stopping aborts the run in flight, waits for it, and calls onStopped once', async () => {
  const { log, lines } = openLog()
  const events: string[] = []
  const loop = repeatWork(
    async signal => {
      events.push('run')
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      events.push('aborted')
      throw new Error('aborted')
    },
    { pauseMs: 60_000, log, failure: 'work failed', onStopped: async () => void events.push('end') }
  )
  await loop.stop()
  expect(events).toEqual(['run', 'aborted', 'end'])
  expect(lines).toEqual([])
})

test('a run may return the pause before the next one', async () => {
  const { log } = openLog()
  let runs = 0
  const loop = repeatWork(
    async () => {
      runs++
      return 1
    },
    { pauseMs: 60_000, log, failure: 'work failed' }
  )
  await waitFor(async () => runs >= 3, deadline)
  await loop.stop()
  expect(runs).toBeGreaterThanOrEqual(3)
})

test('work at times of the clock gets the time of the run, and waits for it', async () => {
  const { log, lines } = openLog()
  const startedAtMs = Date.now()
  const runs: { dueAtMs: number; atMs: number }[] = []
  const loop = repeatWork(
    async (_, dueAt) => {
      runs.push({ dueAtMs: dueAt.getTime(), atMs: Date.now() })
      throw new Error('no')
    },
    { at: '* * * * * *', jitterMs: 0, log, failure: 'work failed' }
  )
  await waitFor(async () => runs.length > 0, deadline)
  await loop.stop()
  const [{ dueAtMs, atMs } = { dueAtMs: 0, atMs: 0 }] = runs
  expect(dueAtMs % 1_000).toBe(0)
  expect(dueAtMs).toBeGreaterThan(startedAtMs - 1)
  expect(atMs).toBeGreaterThanOrEqual(dueAtMs)
  expect(lines).toEqual(['work failed; retrying at the next run'])
})

test('stopping ends the wait for a time', async () => {
  const { log } = openLog()
  let runs = 0
  const loop = repeatWork(async () => void runs++, {
    at: '0 3 1 1 *',
    jitterMs: 60_000,
    log,
    failure: 'work failed'
  })
  await loop.stop()
  expect(runs).toBe(0)
})

test('the delay doubles up to its maximum, with jitter', () => {
  const nextDelayMs = openBackoff({ firstMs: 0, minMs: 1_000, maxMs: 3_000 })
  const delaysMs = [1, 2, 3, 4, 5].map(() => nextDelayMs(0))
  for (const [index, delayMs] of [0, 1_000, 2_000, 3_000, 3_000].entries())
    expect(Math.abs((delaysMs[index] ?? -1) - delayMs)).toBeLessThanOrEqual(delayMs * 0.2)
})

test('a run of more than 30 seconds resets the delay', () => {
  const nextDelayMs = openBackoff({ firstMs: 0, minMs: 1_000, maxMs: 3_000 })
  nextDelayMs(0)
  expect(nextDelayMs(30_001)).toBe(0)
})
