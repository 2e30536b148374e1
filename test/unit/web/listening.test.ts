import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { openListening, type Speaker } from '../../../web/elements/listening.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/**
 * A speaker that only does what a test has it do; another stream ends what was promised of the one before.
 */
function openSpeaker() {
  const events = new EventTarget()
  const started: string[] = []
  let abort = () => {}
  const speaker: Speaker = {
    src: '',
    volume: 1,
    play: async () => {
      abort()
      started.push(speaker.src)
      return new Promise((_, reject) => {
        abort = () => reject(new Error('aborted'))
      })
    },
    pause: () => {},
    load: () => abort(),
    removeAttribute: () => (speaker.src = ''),
    addEventListener: (type, listener) => events.addEventListener(type, listener)
  }
  return { speaker, started, tell: (type: string) => events.dispatchEvent(new Event(type)) }
}

function listen() {
  const { speaker, started, tell } = openSpeaker()
  return { listening: openListening(speaker, () => {}), speaker, started, tell }
}

test('another stream in place of one that still tunes in is started once', async () => {
  const { listening, started, tell } = listen()
  listening.play('one')
  listening.play('two')
  await vi.advanceTimersByTimeAsync(1_000)
  tell('playing')
  await vi.advanceTimersByTimeAsync(60_000)
  expect([started, listening.sound]).toEqual([['one', 'two'], 'playing'])
})

test('a stream that breaks is started again after growing pauses, and given up in the end', async () => {
  const { listening, speaker, started, tell } = listen()
  listening.play('one')
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    const before = started.length
    tell('error')
    await vi.advanceTimersByTimeAsync(pauseMs - 1)
    expect([started.length, listening.sound]).toEqual([before, 'starting'])
    await vi.advanceTimersByTimeAsync(1)
    expect(started.length).toBe(before + 1)
  }
  tell('error')
  expect([listening.sound, speaker.src]).toEqual(['failed', ''])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(started.length).toBe(4)
})

test('a stream that stays silent is one that breaks, at its beginning and later', async () => {
  const { listening, started, tell } = listen()
  listening.play('one')
  await vi.advanceTimersByTimeAsync(14_999 + 1_000)
  expect(started.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(started.length).toBe(2)
  tell('playing')
  await vi.advanceTimersByTimeAsync(60_000)
  tell('waiting')
  expect([started.length, listening.sound]).toEqual([2, 'starting'])
  await vi.advanceTimersByTimeAsync(16_000)
  expect(started.length).toBe(3)
  // Nothing but silence from now on: the same tries as for any other break.
  await vi.advanceTimersByTimeAsync(120_000)
  expect([started.length, listening.sound]).toEqual([5, 'failed'])
})

test('what sounds for a moment each time does not go on for ever', async () => {
  const { listening, started, tell } = listen()
  listening.play('one')
  for (let round = 0; round < 10; round++) {
    tell('playing')
    tell('ended')
    await vi.advanceTimersByTimeAsync(5_000)
  }
  expect([started.length, listening.sound]).toEqual([4, 'failed'])
})

test('what is stopped, or forbidden, stays so', async () => {
  const { listening, started, tell } = listen()
  for (const [end, sound] of [
    [() => listening.stop(), 'silent'],
    [() => listening.forbid(), 'forbidden']
  ] as const) {
    listening.play('one')
    const before = started.length
    tell('error')
    end()
    for (const event of ['error', 'waiting', 'ended', 'playing']) tell(event)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([listening.sound, started.length]).toEqual([sound, before])
  }
  listening.stop()
  listening.forbid()
  expect(listening.sound).toBe('silent')
})
