import { type ChainableCommander, Cluster } from 'ioredis'

import type { RedisClient } from './connection.ts'
import {
  changesChannel,
  endedSessionsKey,
  jobProbeKeys,
  positionsKey,
  probeKey,
  sequenceKey,
  shardOf,
  allShards,
  shardSlot,
  unflushedKey
} from './keys.ts'

/*
 * Commands for many shards at once, sent as one pipeline to each node of a cluster, so that the number of packets
 * does not grow with the number of shards. If a node does not answer, only the commands of its shards fail.
 */

/** Groups shards by the node that a client finds them on. On a single Redis all are one group. */
function groupByNode(redis: RedisClient, numbers: readonly number[]): number[][] {
  if (!(redis instanceof Cluster)) return [[...numbers]]
  const groups = new Map<string, number[]>()
  for (const shard of numbers) {
    // Until the client has read the slots, each shard is a group of its own.
    const node = redis.slots[shardSlot(shard)]?.[0] ?? `shard ${shard}`
    const group = groups.get(node)
    if (group === undefined) groups.set(node, [shard])
    else group.push(shard)
  }
  return [...groups.values()]
}

/** Sends one command for each shard. Returns a promise for each, in order; one that failed rejects. */
function sendToShards(
  redis: RedisClient,
  numbers: readonly number[],
  command: (pipeline: ChainableCommander, shard: number) => unknown
): Promise<unknown>[] {
  const responses = new Map<number, Promise<unknown>>()
  for (const group of groupByNode(redis, numbers)) {
    const pipeline = redis.pipeline()
    for (const shard of group) command(pipeline, shard)
    const results = pipeline.exec()
    for (const [index, shard] of group.entries()) {
      const response = results.then(all => {
        const [error, value] = all?.[index] ?? [new Error('no answer')]
        if (error) throw error
        return value
      })
      responses.set(shard, response)
    }
  }
  return numbers.map(async shard => responses.get(shard))
}

/**
 * Returns a function that reads the sequence number of the newest change of a shard; 0 before the first.
 * Calls in the same tick are sent together.
 */
export function openSequenceReader(redis: RedisClient): (shard: number) => Promise<number> {
  let asked: number[] = []
  let responses: Promise<readonly Promise<unknown>[]> | null = null

  return async shard => {
    const index = asked.push(shard) - 1
    responses ??= Promise.resolve().then(() => {
      const numbers = asked
      asked = []
      responses = null
      return sendToShards(redis, numbers, (pipeline, each) => pipeline.get(sequenceKey(each)))
    })
    return Number((await (await responses)[index]) ?? 0)
  }
}

/**
 * Finds the shards with counts or ended sessions that are not in Postgres. Changes nothing. Throws if a node does not
 * answer.
 */
export async function findUnflushedShards(redis: RedisClient): Promise<number[]> {
  const ask = (command: (pipeline: ChainableCommander, shard: number) => unknown) =>
    Promise.all(sendToShards(redis, allShards, command))
  const [counts, sessions] = await Promise.all([
    ask((pipeline, shard) => pipeline.exists(unflushedKey(shard))),
    // A stream stays when its last entry is removed.
    ask((pipeline, shard) => pipeline.xlen(endedSessionsKey(shard)))
  ])
  return allShards.filter((_, index) => Number(counts[index]) > 0 || Number(sessions[index]) > 0)
}

/** A summary of a shard, by which a later one shows whether the shard has lost data. */
export interface ShardSummary {
  /** Identifies the Redis process: it differs after a restart, and on a replica that was promoted. */
  readonly runId: string
  /** The number of the newest change; 0 before the first. */
  readonly sequence: number
  /** Number of stations, deleted ones included. */
  readonly size: number
}

/** Reads a summary of every shard; rejected for a shard whose node does not answer. */
export async function readShardSummaries(redis: RedisClient): Promise<PromiseSettledResult<ShardSummary>[]> {
  const ask = (command: (pipeline: ChainableCommander, shard: number) => unknown) =>
    sendToShards(redis, allShards, command)
  const sequences = ask((pipeline, shard) => pipeline.get(sequenceKey(shard)))
  const sizes = ask((pipeline, shard) => pipeline.hlen(positionsKey(shard)))
  const runIds = new Map<number, Promise<string>>()
  for (const group of groupByNode(redis, allShards)) {
    const runId = readRunId(redis, group[0] ?? 0)
    for (const shard of group) runIds.set(shard, runId)
  }
  const readSummary = async (shard: number) => {
    const [runId = '', sequence, size] = await Promise.all([
      runIds.get(shard),
      sequences[shard],
      sizes[shard]
    ])
    return { runId, sequence: Number(sequence ?? 0), size: Number(size) }
  }
  return Promise.allSettled(allShards.map(readSummary))
}

/** Reads what identifies the process of the node that has a shard. */
async function readRunId(redis: RedisClient, shard: number): Promise<string> {
  // The first command chooses the node.
  const results = await redis.pipeline().exists(positionsKey(shard)).info('server').exec()
  const [error, info] = results?.[1] ?? [new Error('no answer')]
  if (error) throw error
  return /^run_id:(\w+)/m.exec(String(info))?.[1] ?? ''
}

/** Reads the positions of stations, by id; empty for deleted ones. Those without a position are left out. */
export async function readStationPositions(redis: RedisClient, stationIds: readonly number[]) {
  const byShard = new Map<number, number[]>()
  for (const id of stationIds) byShard.set(shardOf(id), [...(byShard.get(shardOf(id)) ?? []), id])
  const asked = [...byShard]
  const responses = await Promise.all(
    sendToShards(redis, [...byShard.keys()], (pipeline, shard) =>
      pipeline.hmget(positionsKey(shard), ...(byShard.get(shard) ?? []).map(String))
    )
  )
  const positions = new Map<number, string>()
  for (const [index, [, ids]] of asked.entries()) {
    const texts: unknown = responses[index]
    for (const [at, id] of ids.entries()) {
      const text: unknown = Array.isArray(texts) ? texts[at] : null
      if (typeof text === 'string') positions.set(id, text)
    }
  }
  return positions
}

/** One shard of each node. */
const oneOfEachNode = (redis: RedisClient) => groupByNode(redis, allShards).flatMap(([first]) => first ?? [])

/** Throws unless every node of a shard answers. */
export async function probeShards(redis: RedisClient): Promise<void> {
  await Promise.all(oneOfEachNode(redis).map(shard => redis.exists(positionsKey(shard))))
}

/**
 * Throws if a node of a shard, or that of the jobs, refuses writes: it is unavailable, full or read-only, or the user
 * lacks a permission. Changes nothing.
 */
export async function probeWrites(redis: RedisClient): Promise<void> {
  await Promise.all(
    [...oneOfEachNode(redis).map(probeKey), ...jobProbeKeys].map(key => redis.probeWrites(key))
  )
}

/** Subscribes to the changes of all shards. */
export async function subscribeToShards(subscriber: RedisClient): Promise<void> {
  const channels = allShards.map(shard => changesChannel(shard))
  // On a cluster the channels of a command must have the same slot.
  if (subscriber instanceof Cluster)
    await Promise.all(channels.map(channel => subscriber.ssubscribe(channel)))
  else await subscriber.ssubscribe(...channels)
}

/** Subscribes again to one channel of each node, which has no effect but requires an answer. */
export async function probeSubscriptions(subscriber: RedisClient): Promise<void> {
  await Promise.all(oneOfEachNode(subscriber).map(shard => subscriber.ssubscribe(changesChannel(shard))))
}
