import { expect, test } from 'vitest'

import {
  deliverQueue,
  hashSlot,
  scheduledPlaysKey,
  allShards,
  shardSlot,
  shardTags,
  slotCount
} from '../../../../src/stores/redis/keys.ts'

/** The master of each slot, if a cluster gives every master an equal range. */
function masterOf(slot: number, masters: number): number {
  const perMaster = slotCount / masters
  for (let master = 0; master < masters - 1; master++)
    if (slot < Math.round((master + 1) * perMaster)) return master
  return masters - 1
}

test('slots are those of Redis Cluster', () => {
  expect(hashSlot('123456789')).toBe(12_739)
  expect(hashSlot('bull')).toBe(9_263)
})

test('shards have tags of their own', () => {
  expect(new Set(shardTags).size).toBe(allShards.length)
})

/** The load of the job queues, in shards. */
const queueWeights = [0, 4]

test.for(queueWeights)(
  'with job queues that count as %i shards, no master of 3 to 16 gets more than 1.25 times the mean of commands',
  queueWeight => {
    const queueSlots = [scheduledPlaysKey, deliverQueue].map(key => {
      const [, tag = ''] = /^\{(.+)\}/.exec(key) ?? []
      return hashSlot(tag)
    })
    expect(new Set(queueSlots).size).toBe(1)
    const load = [
      ...allShards.map(shard => [shardSlot(shard), 1] as const),
      [queueSlots[0] ?? 0, queueWeight] as const
    ]
    const total = allShards.length + queueWeight
    for (let masters = 3; masters <= 16; masters++) {
      const perMaster = new Map<number, number>()
      for (const [slot, weight] of load) {
        const master = masterOf(slot, masters)
        perMaster.set(master, (perMaster.get(master) ?? 0) + weight)
      }
      expect(Math.max(...perMaster.values()) / (total / masters)).toBeLessThanOrEqual(1.25)
      expect(perMaster.size).toBe(masters)
    }
  }
)
