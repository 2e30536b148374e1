import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

import { afterAll, beforeAll, expect } from 'vitest'

import { cpuOfTree } from './cpu-of-processes.ts'

/*
 * With TEST_PROFILE=FILE each test file appends one line of JSON to it: wall seconds, and CPU seconds of its worker and
 * of all processes below. `services.ts` adds what the shared services used.
 */

const target = process.env['TEST_PROFILE']

if (target !== undefined) {
  let startedAtMs = 0
  let cpuBefore = 0
  beforeAll(() => {
    startedAtMs = performance.now()
    cpuBefore = cpuOfTree(process.pid)
  })
  afterAll(() => {
    const seconds = (performance.now() - startedAtMs) / 1_000
    const cpuSeconds = cpuOfTree(process.pid) - cpuBefore
    const file = relative(process.cwd(), expect.getState().testPath ?? '')
    appendFileSync(target, `${JSON.stringify({ file, seconds, cpuSeconds })}\n`)
  })
}
