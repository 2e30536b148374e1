import { describe, expect, test } from 'vitest'

import { chooseRowToSend, type SendableRow } from '../../../src/engine/playouts/send-next-song.ts'

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
    expect(chooseRowToSend(queue, 1, 60_000)).toBe(queue[1])
    expect(chooseRowToSend([queue[0] ?? row(1), sent(2, 60_000), row(3)], 1, 70_000)?.id).toBe(2)
  })

  test('starts with its last row if it has just started, or with the next one if that was played', () => {
    expect(chooseRowToSend(queue, 0, 60_000)?.id).toBe(1)
    expect(chooseRowToSend([row(2), row(3)], 1, 60_000)?.id).toBe(2)
  })

  test('gets nothing after the end', () => {
    expect(chooseRowToSend(queue, 3, 60_000)).toBeNull()
    expect(chooseRowToSend([], 0, 60_000)).toBeNull()
  })

  test('gets interrupting rows by a command, not by this request', () => {
    const interrupting = row(9, { isInterrupt: true })
    expect(chooseRowToSend([interrupting, ...queue], 1, 60_000)?.id).toBe(2)
    expect(chooseRowToSend([interrupting], 0, 60_000)).toBeNull()
  })
})

describe('a playout that does not report its last row', () => {
  test('gets the first row that was not sent', () => {
    expect(chooseRowToSend([row(1), row(2)], null, 0)?.id).toBe(1)
  })

  test('gets the same row again if the response was probably lost', () => {
    expect(chooseRowToSend([sent(1, 0), row(2)], null, 10_500)?.id).toBe(1)
  })

  test('gets the row after it if it prefetches: at once, or shortly before the song starts', () => {
    expect(chooseRowToSend([sent(1, 0), row(2)], null, 300)?.id).toBe(2)
    expect(chooseRowToSend([sent(1, 0), row(2)], null, 190_000)?.id).toBe(2)
  })

  test('never has more than two unreported rows', () => {
    expect(chooseRowToSend([sent(1, 0), sent(2, 100), row(3)], null, 200)?.id).toBe(2)
  })
})
