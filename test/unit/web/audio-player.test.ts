import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { type AttachHls, type AudioOutput, openAudioPlayer } from '../../../web/elements/audio-player.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // Without jitter.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const mp3 = (url: string) => ({ url, isHls: false })
const noHls = () => Promise.reject(new Error('no HLS'))

/** A player of a fake audio element, in which a new stream rejects the promise of the previous one. */
function openTestPlayer({ attachHls = noHls, missing }: { attachHls?: AttachHls; missing?: string } = {}) {
  const events = new EventTarget()
  const started: string[] = []
  const received = { seconds: 0 }
  /** Advances with the time, unless the sound stops. */
  const heard = { seconds: 0, isStopped: false, isPaused: false }
  setInterval(() => (heard.seconds += heard.isStopped ? 0 : 1), 1_000)
  let abort = () => {}
  const output: AudioOutput = {
    src: '',
    volume: 1,
    get currentTime() {
      return heard.seconds
    },
    get paused() {
      return heard.isPaused
    },
    buffered: { length: 1, end: () => received.seconds },
    play: async () => {
      abort()
      started.push(output.src)
      return new Promise((_, reject) => {
        abort = () => reject(new Error('aborted'))
      })
    },
    pause: () => {},
    load: () => abort(),
    removeAttribute: () => (output.src = ''),
    canPlayType: () => '',
    addEventListener: (type, listener) => events.addEventListener(type, listener)
  }
  const dispatch = (type: string) => events.dispatchEvent(new Event(type))
  return {
    player: openAudioPlayer(
      output,
      () => {},
      attachHls,
      async url => url === missing
    ),
    output,
    started,
    dispatch,
    received,
    heard
  }
}

test('a stream that replaces one that is connecting is started once', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.play(mp3('one'))
  player.play(mp3('two'))
  await vi.advanceTimersByTimeAsync(1_000)
  dispatch('playing')
  await vi.advanceTimersByTimeAsync(60_000)
  expect([started, player.sound]).toEqual([['one', 'two'], 'playing'])
})

test('a stream that does not exist fails at once', async () => {
  const { player, started, dispatch } = openTestPlayer({ missing: 'one' })
  player.play(mp3('one'))
  dispatch('error')
  await vi.advanceTimersByTimeAsync(0)
  expect(player.sound).toBe('missing')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(started).toEqual(['one'])
  // The answer about a stream that was replaced is ignored.
  player.play(mp3('one'))
  dispatch('error')
  player.play(mp3('two'))
  await vi.advanceTimersByTimeAsync(0)
  expect(player.sound).toBe('starting')
})

test('a stream that fails is retried until it plays, with a backoff that grows to 20 seconds', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.play(mp3('one'))
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]) {
    const before = started.length
    dispatch('error')
    await vi.advanceTimersByTimeAsync(pauseMs - 1)
    expect(started.length).toBe(before)
    await vi.advanceTimersByTimeAsync(1)
    expect(started.length).toBe(before + 1)
  }
  expect(player.sound).toBe('retrying')
  // A quarter of an hour without an answer: each attempt has 15 seconds, and 20 follow.
  const before = started.length
  await vi.advanceTimersByTimeAsync(900_000)
  expect(started.length - before).toBe(Math.floor(900 / 35))
  player.wake()
  dispatch('playing')
  expect(player.sound).toBe('playing')
  await vi.advanceTimersByTimeAsync(10_000)
  dispatch('error')
  await vi.advanceTimersByTimeAsync(0)
  expect(player.sound).toBe('starting')
  const after = started.length
  await vi.advanceTimersByTimeAsync(1_000)
  expect(started.length).toBe(after + 1)
})

test('the jitter of the backoff is a quarter', async () => {
  const { player, started, dispatch } = openTestPlayer()
  for (const [random, pauseMs] of [
    [0, 750],
    [1, 1_250]
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    player.play(mp3('one'))
    const before = started.length
    dispatch('error')
    await vi.advanceTimersByTimeAsync(pauseMs - 1)
    expect(started.length).toBe(before)
    await vi.advanceTimersByTimeAsync(1)
    expect(started.length).toBe(before + 1)
  }
})

test('a stream that was heard is retried even if a proxy says that there is none', async () => {
  const { player, started, dispatch } = openTestPlayer({ missing: 'one' })
  player.play(mp3('one'))
  dispatch('playing')
  dispatch('error')
  await vi.advanceTimersByTimeAsync(0)
  expect(player.sound).toBe('starting')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(started).toEqual(['one', 'one'])
})

test('a stream that is silent is retried, at its start and later', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.play(mp3('one'))
  await vi.advanceTimersByTimeAsync(14_999 + 1_000)
  expect(started.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(started.length).toBe(2)
  dispatch('playing')
  await vi.advanceTimersByTimeAsync(60_000)
  dispatch('waiting')
  expect([started.length, player.sound]).toEqual([2, 'starting'])
  await vi.advanceTimersByTimeAsync(16_000)
  expect(started.length).toBe(3)
})

test('a stream that stops without an event is retried, unless the system has paused it', async () => {
  const { player, started, dispatch, heard } = openTestPlayer()
  player.play(mp3('one'))
  dispatch('playing')
  await vi.advanceTimersByTimeAsync(300_000)
  heard.isStopped = true
  heard.isPaused = true
  await vi.advanceTimersByTimeAsync(300_000)
  expect([started.length, player.sound]).toEqual([1, 'playing'])
  heard.isPaused = false
  await vi.advanceTimersByTimeAsync(26_000)
  expect([started.length, player.sound]).toEqual([2, 'starting'])
})

test('a stream that plays only briefly each time is retried ever later', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.play(mp3('one'))
  for (let second = 0; second < 300; second++) {
    dispatch('playing')
    dispatch('ended')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(started.length).toBeLessThan(22)
  expect(player.sound).toBe('retrying')
})

test('when the network is back, a stream that waits for its retry starts at once', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.wake()
  player.play(mp3('one'))
  player.wake()
  expect(started).toEqual(['one'])
  dispatch('error')
  await vi.advanceTimersByTimeAsync(0)
  player.wake()
  player.wake()
  expect(started).toEqual(['one', 'one'])
  dispatch('playing')
  player.wake()
  player.stop()
  player.wake()
  expect(started).toEqual(['one', 'one'])
})

test('a stream that got another address is heard to its end, and retried at the new one', async () => {
  const { player, started, dispatch } = openTestPlayer()
  player.move(mp3('two'))
  player.play(mp3('one'))
  dispatch('playing')
  player.move(mp3('two'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(started).toEqual(['one'])
  dispatch('ended')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(started).toEqual(['one', 'two'])
  dispatch('error')
  await vi.advanceTimersByTimeAsync(0)
  player.move(mp3('three'))
  expect(started).toEqual(['one', 'two', 'three'])
})

test('a stream that was stopped or blocked is not retried', async () => {
  const { player, started, dispatch } = openTestPlayer()
  for (const [end, sound] of [
    [() => player.stop(), 'silent'],
    [() => player.forbid(), 'forbidden']
  ] as const) {
    player.play(mp3('one'))
    const before = started.length
    dispatch('error')
    end()
    for (const event of ['error', 'waiting', 'ended', 'playing']) dispatch(event)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([player.sound, started.length]).toEqual([sound, before])
  }
  player.stop()
  player.forbid()
  expect(player.sound).toBe('silent')
})

test('the delay is what was received and not heard yet, with pieces that arrive late', async () => {
  const { player, dispatch, received } = openTestPlayer()
  expect(player.delay()).toBe(0)
  player.play(mp3('one'))
  received.seconds = 4
  expect(player.delay()).toBe(0)
  dispatch('playing')
  const delays = [8.5, 8.3, 8.4].map(seconds => {
    received.seconds = seconds
    return player.delay()
  })
  expect(delays).toEqual([8.5, 8.5, 8.5])
  received.seconds = 0
  dispatch('waiting')
  expect(player.delay()).toBe(8.5)
  player.stop()
  expect(player.delay()).toBe(0)
})

test('the delay of HLS is that of the stream, and a stream that was stopped while it loaded is closed', async () => {
  const closed: string[] = []
  const attachHls: AttachHls = async url => ({ delay: () => 12, close: () => void closed.push(url) })
  const { player, dispatch } = openTestPlayer({ attachHls })
  player.play({ url: 'live', isHls: true })
  await vi.advanceTimersByTimeAsync(1)
  dispatch('playing')
  expect(player.delay()).toBe(12)
  player.play({ url: 'other', isHls: true })
  player.stop()
  await vi.advanceTimersByTimeAsync(1)
  expect(closed).toEqual(['live', 'other'])
})

test('HLS that cannot be loaded is retried', async () => {
  let attempts = 0
  const attachHls: AttachHls = () => {
    attempts++
    return noHls()
  }
  const { player } = openTestPlayer({ attachHls })
  player.play({ url: 'live', isHls: true })
  await vi.advanceTimersByTimeAsync(7_001)
  expect([attempts, player.sound]).toEqual([4, 'retrying'])
})
