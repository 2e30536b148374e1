import { tmpdir } from 'node:os'

import { expect, test } from 'vitest'

import { inOneLine, startGuarded, tailOf } from '../../../src/embedded/supervise.ts'

const options = { stopSignal: 'TERM', cwd: tmpdir() } as const

test('of a long output the last lines are kept', () => {
  expect(tailOf(Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n'))).toMatch(/^line 60\n/)
  expect(tailOf('x'.repeat(100_000))).toHaveLength(8_192)
})

test('an error message gets the last lines that say something', () => {
  expect(inOneLine('one\n\n  two \n')).toBe('one | two')
  expect(inOneLine('\n')).toBe('it wrote nothing')
})

test('the exit code and the output of a guarded program are passed on', async () => {
  const guarded = await startGuarded(['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'], options)
  expect(await guarded.exited).toBe(3)
  expect(guarded.lastOutput().split('\n').toSorted()).toEqual(['', 'err', 'out'])
  await guarded.stop()
})

test('a guarded program is asked to end by its signal, and does not see our environment', async () => {
  process.env['CUEWIRE_TEST_SECRET'] = 'secret'
  const script = 'trap "echo asked [$CUEWIRE_TEST_SECRET]; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  const guarded = await startGuarded(['/bin/sh', '-c', script], options)
  await expect.poll(guarded.lastOutput).toBe('up\n')
  await guarded.stop()
  expect(await guarded.exited).toBe(0)
  expect(guarded.lastOutput()).toBe('up\nasked []\n')
})

test('a program that does not listen yet is asked again', async () => {
  const script = 'trap "" TERM; echo up; sleep 0.2; trap "exit 7" TERM; while :; do sleep 0.1; done'
  const guarded = await startGuarded(['/bin/sh', '-c', script], options)
  await expect.poll(guarded.lastOutput).toBe('up\n')
  await guarded.stop()
  expect(await guarded.exited).toBe(7)
})

test('a program whose start is given up ends, and one that is to end already as well', async () => {
  const abort = new AbortController()
  const first = await startGuarded(['/bin/sleep', '60'], { ...options, signal: abort.signal })
  abort.abort()
  expect(await first.exited).toBe(143)
  const second = await startGuarded(['/bin/sleep', '60'], { ...options, signal: abort.signal })
  expect(await second.exited).toBe(143)
})

test('a program that does not exist is an exit code, not a hang', async () => {
  const guarded = await startGuarded(['/does/not/exist'], options)
  expect(await guarded.exited).toBe(127)
  await guarded.stop()
})
