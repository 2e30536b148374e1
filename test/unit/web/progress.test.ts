import { expect, test } from 'vitest'

import { progressAt } from '../../../web/client/progress.ts'
import { aPlay, aStation } from '../../support/builders.ts'
import { documentOf } from '../../support/web-client.ts'

const startMs = 1_783_468_790_000
const playing = (durationMs: number) => aStation({ shown: aPlay({ startedAtMs: startMs, durationMs }) })
const seconds = startMs / 1_000

test('a song is where the server says, within its length', () => {
  const np = documentOf(playing(215_000), seconds + 25)
  expect(progressAt(np, startMs + 25_400)).toEqual({
    elapsedMs: 25_400,
    durationMs: 215_000,
    remainingMs: 189_600
  })
  expect(progressAt(np, startMs - 500)?.elapsedMs).toBe(0)
  expect(progressAt(np, startMs + 900_000)?.remainingMs).toBe(0)
})

test('a song of unknown length has only a past', () => {
  const np = documentOf(playing(0), seconds + 25)
  expect(progressAt(np, startMs + 25_000)).toEqual({ elapsedMs: 25_000, durationMs: null, remainingMs: null })
})

test('what ended early for a jingle is over', () => {
  const station = playing(215_000)
  const during = { ...station, current: { shId: 9_999, dueAtMs: null, isVisible: false } }
  expect(progressAt(documentOf(during, seconds + 25), startMs + 25_000)?.remainingMs).toBe(0)
})

test('off the air, and before the first news, nothing progresses', () => {
  expect(progressAt(documentOf(aStation({ shown: null })), startMs)).toBeNull()
  expect(progressAt(null, startMs)).toBeNull()
})
