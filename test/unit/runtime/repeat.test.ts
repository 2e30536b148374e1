import { pino } from 'pino'
import { expect, test } from 'vitest'

import { repeat } from '../../../src/runtime/repeat.ts'
import { waitFor } from '../../support/wait.ts'

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
  const loop = repeat(
    async () => {
      if (fails[runs++]) throw new Error('no')
    },
    { pauseMs: 1, log, failure: 'work failed' }
  )
  await waitFor(async () => runs >= fails.length, deadline)
  await loop.stop()
  expect(lines).toEqual(['work failed; retrying', 'work failed; retrying'])
})

test('stopping waits for the run in flight, tells it, and runs the end once', async () => {
  const { log, lines } = openLog()
  const events: string[] = []
  const loop = repeat(
    async signal => {
      events.push('run')
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      events.push('told')
      throw new Error('aborted')
    },
    { pauseMs: 60_000, log, failure: 'work failed', onStopped: async () => void events.push('end') }
  )
  await loop.stop()
  expect(events).toEqual(['run', 'told', 'end'])
  expect(lines).toEqual([])
})

test('a run says when the next one is due', async () => {
  const { log } = openLog()
  let runs = 0
  const loop = repeat(
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
