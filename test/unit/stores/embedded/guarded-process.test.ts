import { tmpdir } from 'node:os'

import { expect, test } from 'vitest'

import {
  summarizeOutput,
  startGuardedProcess,
  keepLastOutput
} from '../../../../src/stores/embedded/guarded-process.ts'

const options = { stopSignal: 'TERM', cwd: tmpdir() } as const

test('long output is truncated to its last lines', () => {
  expect(keepLastOutput(Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n'))).toMatch(
    /^line 60\n/
  )
  expect(keepLastOutput('x'.repeat(100_000))).toHaveLength(8_192)
})

test('the last lines that are not blank are joined for an error message', () => {
  expect(summarizeOutput('one\n\n  two \n')).toBe('one | two')
  expect(summarizeOutput('\n')).toBe('no output')
})

test('the exit code and the output of a guarded program are returned', async () => {
  const guarded = await startGuardedProcess(['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'], options)
  expect(await guarded.exited).toBe(3)
  expect(guarded.lastOutput().split('\n').toSorted()).toEqual(['', 'err', 'out'])
  await guarded.stop()
})

test('a guarded program is stopped by its signal and does not see our environment', async () => {
  process.env['CUEWIRE_TEST_SECRET'] = 'secret'
  const script = 'trap "echo asked [$CUEWIRE_TEST_SECRET]; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  const guarded = await startGuardedProcess(['/bin/sh', '-c', script], options)
  await expect.poll(guarded.lastOutput).toBe('up\n')
  await guarded.stop()
  expect(await guarded.exited).toBe(0)
  expect(guarded.lastOutput()).toBe('up\nasked []\n')
})

test('the signal is repeated for a program without a handler yet', async () => {
  const script = 'trap "" TERM; echo up; sleep 0.2; trap "exit 7" TERM; while :; do sleep 0.1; done'
  const guarded = await startGuardedProcess(['/bin/sh', '-c', script], options)
  await expect.poll(guarded.lastOutput).toBe('up\n')
  await guarded.stop()
  expect(await guarded.exited).toBe(7)
})

test('a program ends when its signal is aborted, also if it was aborted before the start', async () => {
  const abort = new AbortController()
  const first = await startGuardedProcess(['/bin/sleep', '60'], { ...options, signal: abort.signal })
  abort.abort()
  expect(await first.exited).toBe(143)
  const second = await startGuardedProcess(['/bin/sleep', '60'], { ...options, signal: abort.signal })
  expect(await second.exited).toBe(143)
})

test('a missing program results in exit code 127', async () => {
  const guarded = await startGuardedProcess(['/does/not/exist'], options)
  expect(await guarded.exited).toBe(127)
  await guarded.stop()
})
