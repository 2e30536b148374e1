import { pino } from 'pino'
import { expect, test } from 'vitest'

import { openSlowLog } from '../../../../src/platform/runtime/slow-log.ts'

function openLog() {
  const lines: unknown[] = []
  const log = pino(
    { level: 'warn', base: null, timestamp: false },
    { write: text => void lines.push(JSON.parse(text)) }
  )
  return { log, lines }
}

test('work at or above the threshold is logged with its details', () => {
  const { log, lines } = openLog()
  const slowLog = openSlowLog(log, 100)
  slowLog.note('query', 99, () => ({ statement: 'select stations' }))
  slowLog.note('query', 100.4, () => ({ statement: 'update stations' }))
  expect(lines).toEqual([{ level: 40, ms: 100, statement: 'update stations', msg: 'slow query' }])
})

test('an outage does not flood the log, and 0 turns it off', () => {
  const { log, lines } = openLog()
  const slowLog = openSlowLog(log, 1)
  for (let index = 0; index < 1_000; index++) slowLog.note('request', 5, () => ({}))
  openSlowLog(log, 0).note('request', 1e9, () => ({}))
  expect(lines).toHaveLength(20)
})
