import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

import { afterAll, beforeAll, expect } from 'vitest'

/*
 * With TEST_PROFILE=FILE each test file appends one line of JSON to it: wall seconds, and CPU seconds of its worker and of
 * all processes below. What shared services (Postgres) use is not in it. Linux only.
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

/** CPU seconds of a process, its ended children, and all its descendants. */
function cpuOfTree(root: number): number {
  const rows = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(readStat)
  const tree = new Set([root])
  for (let size = 0; size !== tree.size;) {
    size = tree.size
    for (const { pid, parent } of rows) if (tree.has(parent)) tree.add(pid)
  }
  return rows.filter(({ pid }) => tree.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0) / 100
}

function readStat(pid: string): { pid: number; parent: number; ticks: number }[] {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return []
  }
  // The name of the program, in parentheses, may contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0] = fields
  // User and system time, also of ended children.
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0)
  return [{ pid: Number(pid), parent, ticks }]
}
