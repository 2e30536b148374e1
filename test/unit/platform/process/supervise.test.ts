import { expect, test } from 'vitest'

import {
  type ProgramOutage,
  superviseProgram,
  type SupervisedProgram
} from '../../../../src/platform/process/supervise.ts'
import { waitFor } from '../../../support/wait.ts'

const deadline = { deadlineMs: 5_000, what: 'the restart' }
const delays = { firstMs: 0, minMs: 1, maxMs: 2 }

/** Programs that end on demand, in the order of their starts. */
function openPrograms({ failingStarts = [] as number[] } = {}) {
  const started: (SupervisedProgram & { end: () => void })[] = []
  let starts = 0
  const start = async (signal: AbortSignal) => {
    signal.throwIfAborted()
    if (failingStarts.includes(starts++)) throw new Error('no port')
    let end = () => {}
    const exited = new Promise<void>(resolve => (end = resolve))
    const program = { exited, end, lastOutput: () => 'crashed', stop: async () => end() }
    started.push(program)
    return program
  }
  return { start, started, starts: () => starts }
}

test('a program that ends is restarted until it is stopped', async () => {
  const { start, started, starts } = openPrograms({ failingStarts: [1] })
  const outages: ProgramOutage[] = []
  const life = new AbortController().signal
  const onOutage = (outage: ProgramOutage) => void outages.push(outage)
  const supervised = await superviseProgram(start, { ...delays, life, onOutage })
  started[0]?.end()
  await waitFor(() => started.length === 2, deadline)
  expect(outages.map(({ cause, output }) => [cause, output])).toEqual([
    ['ended', 'crashed'],
    ['not-started', 'no port']
  ])
  await supervised.stop()
  expect(starts()).toBe(3)
})

test('a first start that fails rejects and is not repeated', async () => {
  const { start, starts } = openPrograms({ failingStarts: [0] })
  const life = new AbortController().signal
  await expect(superviseProgram(start, { ...delays, life, onOutage: () => {} })).rejects.toThrow('no port')
  expect(starts()).toBe(1)
})

test('after the abort nothing is restarted, and a running program continues', async () => {
  const { start, started, starts } = openPrograms()
  const life = new AbortController()
  let isEnded = false
  const supervised = await superviseProgram(start, { ...delays, life: life.signal, onOutage: () => {} })
  void started[0]?.exited.then(() => (isEnded = true))
  life.abort()
  await new Promise(resolve => setImmediate(resolve))
  expect(isEnded).toBe(false)
  await supervised.stop()
  expect(starts()).toBe(1)
  await expect(superviseProgram(start, { ...delays, life: life.signal, onOutage: () => {} })).rejects.toThrow(
    'abort'
  )
})
