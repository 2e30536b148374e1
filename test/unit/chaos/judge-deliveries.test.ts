import { describe, expect, test } from 'vitest'

import {
  type DeliveryContext,
  type DeliveryRow,
  judgeDeliveries,
  type ReceivedRequest
} from '../../chaos/judge-deliveries.ts'

const request = (shId: number, parts: Partial<ReceivedRequest> = {}): ReceivedRequest => ({
  hookId: 1,
  messageId: `evt_${shId}`,
  shId,
  triggers: ['song_changed'],
  wasAccepted: true,
  ...parts
})
const row = (shId: number, parts: Partial<DeliveryRow> = {}): DeliveryRow => ({
  hookId: 1,
  messageId: `evt_${shId}`,
  fact: `song:${shId}`,
  state: 'delivered',
  isOverdue: false,
  ...parts
})
const context: DeliveryContext = { stationId: 1, hookId: 1, shIds: [1, 2], mayReplacePlays: false }

const rules = (
  received: readonly ReceivedRequest[],
  rows: readonly DeliveryRow[],
  parts: Partial<DeliveryContext> = {}
) => judgeDeliveries(received, rows, { ...context, ...parts }).map(({ rule }) => rule)

test('each play sent once passes, also with a retry under the same id', () => {
  const retried = request(1, { wasAccepted: false })
  expect(rules([retried, request(1), request(2)], [row(1), row(2)])).toEqual([])
})

test('a pending delivery that is not overdue passes', () => {
  expect(rules([request(1)], [row(1), row(2, { state: 'pending' })])).toEqual([])
})

test('requests of other web hooks are ignored', () => {
  expect(rules([request(1, { hookId: 2 })], [row(1)], { shIds: [1] })).toEqual(['no trigger lost'])
})

describe('the check fails for', () => {
  const failing: Record<
    string,
    [received: readonly ReceivedRequest[], rows: readonly DeliveryRow[], rule: string]
  > = {
    'a play that was never sent': [[request(1)], [row(1)], 'no trigger lost'],
    'a delivery logged as delivered but not received': [[request(1)], [row(1), row(2)], 'no trigger lost'],
    'a delivery logged as delivered but refused': [
      [request(1), request(2, { wasAccepted: false })],
      [row(1), row(2)],
      'no trigger lost'
    ],
    'an overdue delivery': [
      [request(1)],
      [row(1), row(2, { state: 'pending', isOverdue: true })],
      'no trigger lost'
    ],
    'a play under two ids': [
      [request(1), request(1, { messageId: 'evt_2' })],
      [row(1), row(2)],
      'one webhook-id for a trigger'
    ],
    'an id for two plays': [
      [request(1), request(2), request(2, { messageId: 'evt_1' })],
      [row(1), row(2)],
      'one webhook-id for a trigger'
    ],
    'a request without a logged delivery': [
      [request(1), request(2), request(3)],
      [row(1), row(2)],
      'no trigger invented'
    ],
    'a delivery without a play': [
      [request(1), request(2), request(3)],
      [row(1), row(2), row(3)],
      'no trigger invented'
    ]
  }
  test.each(Object.entries(failing))('%s', (_, [received, rows, rule]) => {
    expect(rules(received, rows)).toContain(rule)
  })
})

test('a provisional play that a report replaced may have been sent', () => {
  const received = [request(1), request(2), request(3)]
  expect(rules(received, [row(1), row(2), row(3)], { mayReplacePlays: true })).toEqual([])
})
