import { describe, expect, test } from 'vitest'

import { nextToSend, type SendableRow } from '../../../src/engine/playouts/send-next-song.ts'

const row = (id: number, parts: Partial<SendableRow> = {}): SendableRow => ({
  id,
  isSent: false,
  isInterrupt: false,
  cuedAtMs: 0,
  startsAtMs: id * 200_000,
  ...parts
})
const sent = (id: number, cuedAtMs: number) => row(id, { isSent: true, cuedAtMs })

describe('a playout that reports the last row it received', () => {
  const queue = [sent(1, 0), row(2), row(3)]

  test('gets the row after it, repeatedly', () => {
    expect(nextToSend(queue, 1, 60_000)).toBe(queue[1])
    expect(nextToSend([queue[0] ?? row(1), sent(2, 60_000), row(3)], 1, 70_000)?.id).toBe(2)
  })

  test('starts with its last row if it has just started, or with the next one if that was played', () => {
    expect(nextToSend(queue, 0, 60_000)?.id).toBe(1)
    expect(nextToSend([row(2), row(3)], 1, 60_000)?.id).toBe(2)
  })

  test('gets nothing after the end', () => {
    expect(nextToSend(queue, 3, 60_000)).toBeNull()
    expect(nextToSend([], 0, 60_000)).toBeNull()
  })

  test('gets interrupting rows by a command, not by this request', () => {
    const interrupting = row(9, { isInterrupt: true })
    expect(nextToSend([interrupting, ...queue], 1, 60_000)?.id).toBe(2)
    expect(nextToSend([interrupting], 0, 60_000)).toBeNull()
  })
})

describe('a playout that does not report its last row', () => {
  test('gets the first row that was not sent', () => {
    expect(nextToSend([row(1), row(2)], null, 0)?.id).toBe(1)
  })

  test('gets the same row again if the response was probably lost', () => {
    expect(nextToSend([sent(1, 0), row(2)], null, 10_500)?.id).toBe(1)
  })

  test('gets the row after it if it prefetches: at once, or shortly before the song starts', () => {
    expect(nextToSend([sent(1, 0), row(2)], null, 300)?.id).toBe(2)
    expect(nextToSend([sent(1, 0), row(2)], null, 190_000)?.id).toBe(2)
  })

  test('never has more than two unreported rows', () => {
    expect(nextToSend([sent(1, 0), sent(2, 100), row(3)], null, 200)?.id).toBe(2)
  })
})
