import { expect } from 'vitest'

import type { StationState } from '../../src/model/station/state.ts'
import { startRedis } from '../../src/stores/embedded/redis.ts'
import { openRedis, type RedisClient } from '../../src/stores/redis/connection.ts'
import {
  changedKey,
  changesChannel,
  positionsKey,
  sequenceKey,
  allShards,
  stationKey
} from '../../src/stores/redis/keys.ts'
import type { RedisPlace } from '../../src/stores/redis/redis-place.ts'
import { afterSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { countSubscribers, followRedis } from '../support/live-server.ts'
import { positionOf, putState } from '../support/put-state.ts'
import { openStoreFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const toRedisPlace = (url: string): RedisPlace => ({ urls: [url], isCluster: false })
/** Without periodic checks, changes must arrive as messages, or by the check after a reconnect. */
const noChecks = { checkIntervalMs: 3_600_000 }
const soon = { deadlineMs: 5_000, what: 'the feed to follow' }

test('all stations are available when the feed opens', async ({ redisUrl }) => {
  const redis = openRedis(toRedisPlace(redisUrl), 'test')
  for (const stationId of [18, 2, 1])
    await putState(redis, aStation({ stationId, profile: { shortName: `s${stationId}` } }))
  redis.disconnect()
  const { feed } = await followRedis(redisUrl)
  expect(feed.all().map(({ state }) => state.stationId)).toEqual([1, 2, 18])
  expect(feed.find('s18')).toBe(feed.get(18))
  expect([feed.isCurrent(), feed.health().stations]).toEqual([true, 3])
})

test('a change is emitted with its triggers', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  const emitted: [number, readonly string[]][] = []
  feed.onChange(({ state }, triggers) => emitted.push([state.offset, triggers]))
  const first = aStation()
  await putState(redis, first, ['station_online'])
  await waitFor(() => emitted.length === 1, soon)
  await putState(redis, afterSong(first), ['song_changed'])
  await waitFor(() => emitted.length === 2, soon)
  expect(emitted).toEqual([
    [1, ['station_online']],
    [2, ['song_changed']]
  ])
})

test('after a burst of changes the feed has the newest state, and no trigger is lost', async ({
  redisUrl
}) => {
  const { feed, redis } = await followRedis(redisUrl)
  const versions: number[] = []
  const raised = new Set<string>()
  feed.onChange(({ state }, triggers) => {
    versions.push(state.offset)
    for (const trigger of triggers) raised.add(trigger)
  })
  let state = aStation()
  await putState(redis, state, ['station_online'])
  for (const trigger of ['listener_gained', 'song_changed', 'live_connect'] as const) {
    const next = afterSong(state)
    await putState(redis, next, [trigger])
    state = next
  }
  await waitFor(() => feed.get(1)?.state.offset === 4 && raised.size === 4, soon)
  expect(versions).toEqual(versions.toSorted((a, b) => a - b))
})

test('a change whose message was lost is found by the check', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  const state = aStation()
  const position = positionOf(state)
  await redis.hset(stationKey(1), { position, state: JSON.stringify(state) })
  await redis.hset(positionsKey(1), { 1: position })
  await redis.set(sequenceKey(1), 1)
  await redis.zadd(changedKey(1), 1, '1')
  await waitFor(() => feed.get(1), soon)
})

/** Commits the initial state of a station of each shard, numbered from `from`. Returns the ids. */
async function commitEverywhere(redis: RedisClient, from: number): Promise<number[]> {
  const states = allShards.map(shard =>
    aStation({ stationId: from + shard, profile: { shortName: `s${from + shard}` } })
  )
  for (const state of states) await putState(redis, state)
  return states.map(({ stationId }) => stationId)
}

test('every shard has its channel, and the feed recovers from a lost connection without a periodic check', async ({
  redisUrl
}) => {
  const { feed, redis } = await followRedis(redisUrl, noChecks)
  const emitted: number[] = []
  feed.onChange(({ state }) => emitted.push(state.stationId))
  const first = await commitEverywhere(redis, 64)
  await waitFor(() => emitted.length === first.length, soon)
  const lostAtMs = Date.now()
  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await waitFor(() => feed.isCurrent() && feed.health().checkedAtMs > lostAtMs, soon)
  await waitFor(async () => (await countSubscribers(redis)).every(count => count === 1), soon)
  const second = await commitEverywhere(redis, 128)
  await waitFor(() => emitted.length === 2 * first.length, soon)
  expect(emitted).toEqual([...first, ...second])
})

test('after a restart of Redis the feed checks and subscribes again, without a periodic check', async () => {
  await using folder = await openStoreFolder()
  const before = await startRedis(folder.path)
  const { feed, redis } = await followRedis(before.url, noChecks)
  await commitEverywhere(redis, 64)
  await waitFor(() => feed.all().length === allShards.length, soon)
  await before.stop()
  await waitFor(() => !feed.isCurrent(), soon)
  const lostAtMs = Date.now()
  await using after = await startRedis(folder.path, { port: before.port })
  await waitFor(() => feed.isCurrent() && feed.health().checkedAtMs > lostAtMs, soon)
  await waitFor(async () => (await countSubscribers(redis)).every(count => count === 1), soon)
  await commitEverywhere(redis, 128)
  await waitFor(() => feed.all().length === 2 * allShards.length, soon)
  expect(after.pid).not.toBe(before.pid)
})

test('no change is missed when the connection is closed during commits', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  let states = allShards.map(shard =>
    aStation({ stationId: 16 + shard, profile: { shortName: `s${shard}` } })
  )
  await Promise.all(states.map(state => putState(redis, state)))
  for (let round = 0; round < 50; round++) {
    const next = states.map(state => afterSong(state))
    const cut = round % 5 === 0 ? redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub') : null
    await Promise.all([cut, ...next.map(state => putState(redis, state))])
    states = next
  }
  await waitFor(() => states.every(state => feed.get(state.stationId)?.state.offset === state.offset), soon)
  await waitFor(() => feed.isCurrent(), soon)
})

test('after a FLUSHALL the newest known state is kept until a new epoch starts', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  const old = aStation({ offset: 40 })
  await putState(redis, old)
  await waitFor(() => feed.get(1), soon)
  await redis.flushall()
  const emptyAtMs = Date.now()
  await waitFor(() => feed.health().checkedAtMs > emptyAtMs, soon)
  expect(feed.find('harbour_fm')?.state.offset).toBe(40)
  await putState(redis, aStation({ epoch: 'e2' }))
  await waitFor(() => feed.get(1)?.state.epoch === 'e2', soon)
  expect(feed.get(1)?.state.offset).toBe(1)
})

test('an invalid record affects only its own station', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  await redis.hset(stationKey(3), { position: 'x:9:9:3', state: '{"stationId":3,' })
  await redis.hset(positionsKey(3), { 3: 'x:9:9:3' })
  await redis.spublish(changesChannel(3), 'nonsense')
  await redis.spublish(changesChannel(1), '{"stationId":"1","position":7}')
  await redis.spublish(
    changesChannel(3),
    '{"stationId":3,"position":"x:9:9:3","triggers":["song_changed","made_up"]}'
  )
  const states: StationState[] = [1, 2, 19].map(stationId => aStation({ stationId }))
  for (const state of states) await putState(redis, state)
  await waitFor(() => feed.all().length === 3, soon)
  expect(feed.get(3)).toBeUndefined()
})

test('a station whose position was removed is removed', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  for (const stationId of [1, 2])
    await putState(redis, aStation({ stationId, profile: { shortName: `s${stationId}` } }))
  await waitFor(() => feed.all().length === 2, soon)
  await redis.spublish(changesChannel(1), JSON.stringify({ stationId: 1, position: '', triggers: [] }))
  await redis.hset(positionsKey(1), { 1: '' })
  await redis.hset(positionsKey(2), { 2: '' })
  await redis.set(sequenceKey(2), Date.now() + 1_000)
  await redis.zadd(changedKey(2), Date.now() + 1_000, '2')
  await waitFor(() => feed.all().length === 0, soon)
  expect(feed.find('s1')).toBeUndefined()
})

test('a read in flight does not restore a deleted station', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  const emitted: number[] = []
  feed.onChange(({ state }) => emitted.push(state.stationId))
  const state = aStation()
  const position = positionOf(state)
  const change = { stationId: 1, position, triggers: [] }
  // The state can still be read when both messages have arrived.
  await redis.hset(stationKey(1), { position, state: JSON.stringify(state) })
  await redis.hset(positionsKey(1), { 1: '' })
  await redis
    .pipeline()
    .spublish(changesChannel(1), JSON.stringify(change))
    .spublish(changesChannel(1), JSON.stringify({ ...change, position: '' }))
    .exec()
  await putState(redis, aStation({ stationId: 2 }))
  await waitFor(() => feed.get(2), soon)
  expect([feed.get(1), emitted]).toEqual([undefined, [2]])
})

test('catchUp reads a state whose message was lost', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await putState(redis, aStation())
  await feed.catchUp(1)
  expect(feed.get(1)?.state.offset).toBe(1)
})

test('a feed is stale while Redis hangs, and recovers', async ({ redisUrl }) => {
  const { feed, redis } = await followRedis(redisUrl)
  const admin = openRedis(toRedisPlace(redisUrl), 'admin')
  const first = aStation()
  await putState(redis, first)
  await waitFor(() => feed.get(1), soon)
  expect(feed.isCurrent()).toBe(true)
  await admin.client('PAUSE', 6_000, 'ALL')
  admin.disconnect()
  await waitFor(() => !feed.isCurrent(), { deadlineMs: 8_000, what: 'the feed to doubt what it has' })
  expect(feed.get(1)?.state.offset).toBe(1)
  await putState(redis, afterSong(first))
  await waitFor(() => feed.get(1)?.state.offset === 2, soon)
})
