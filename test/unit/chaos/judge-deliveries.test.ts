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

test('each play once, also with a retry under the same id, passes', () => {
  const retried = request(1, { wasAccepted: false })
  expect(rules([retried, request(1), request(2)], [row(1), row(2)])).toEqual([])
})

test('a delivery that is pending and not overdue has not failed', () => {
  expect(rules([request(1)], [row(1), row(2, { state: 'pending' })])).toEqual([])
})

test('requests of other hooks do not count', () => {
  expect(rules([request(1, { hookId: 2 })], [row(1)], { shIds: [1] })).toEqual(['no trigger lost'])
})

describe('fails:', () => {
  const failing: Record<
    string,
    [received: readonly ReceivedRequest[], rows: readonly DeliveryRow[], rule: string]
  > = {
    'a play that was never announced': [[request(1)], [row(1)], 'no trigger lost'],
    'a delivery that counts as delivered and never arrived': [
      [request(1)],
      [row(1), row(2)],
      'no trigger lost'
    ],
    'one that was turned away and counts as delivered': [
      [request(1), request(2, { wasAccepted: false })],
      [row(1), row(2)],
      'no trigger lost'
    ],
    'one that is overdue': [
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
    'a request that no delivery stands for': [
      [request(1), request(2), request(3)],
      [row(1), row(2)],
      'no trigger invented'
    ],
    'an announcement without a play': [
      [request(1), request(2), request(3)],
      [row(1), row(2), row(3)],
      'no trigger invented'
    ]
  }
  test.each(Object.entries(failing))('%s', (_, [received, rows, rule]) => {
    expect(rules(received, rows)).toContain(rule)
  })
})

test('a provisional play that a report replaced may have been announced', () => {
  const received = [request(1), request(2), request(3)]
  expect(rules(received, [row(1), row(2), row(3)], { mayReplacePlays: true })).toEqual([])
})
