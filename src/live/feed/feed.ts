import type { ShownPosition } from '../../model/station/live-view.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import type { Trigger } from '../../model/station/triggers.ts'
import { openStationFaults, type StationFaults } from '../../platform/isolation/station-faults.ts'
import { feedLagMetric } from '../../platform/metrics/push.ts'
import { forEachConcurrently } from '../../platform/runtime/concurrency.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import type { RedisClient } from '../../stores/redis/connection.ts'
import { shardOf, allShards } from '../../stores/redis/keys.ts'
import {
  openSequenceReader,
  probeSubscriptions,
  subscribeToShards
} from '../../stores/redis/shard-commands.ts'
import { parseStationMessage } from '../../stores/redis/state-schema.ts'
import type { WriteHealth } from '../../stores/redis/write-health.ts'
import type { LiveStation } from './live-station.ts'
import { followShard, type ReadStationIdentities } from './shard-follower.ts'
import { startStateCompression } from './state-compression.ts'
import { openStationCatalogue } from './station-catalogue.ts'

type ChangeListener = (station: LiveStation, triggers: readonly Trigger[]) => void
/** Receives an id or short name that no longer names the station it named. */
type RemovalListener = (idOrName: string) => void

export type Feed = Awaited<ReturnType<typeof openFeed>>

export interface FeedOptions {
  /** For reads; may be shared. */
  readonly redis: RedisClient
  /** For the changes channels only. Both connections stay open when the feed closes. */
  readonly subscriber: RedisClient
  /** Whether `redis` takes writes. It goes on when the feed closes, as the connections do. */
  readonly writes: Pick<WriteHealth, 'check' | 'isRefusing' | 'isNodeRefusing' | 'writableAtMs'>
  /** The first is the default one. Its documents are rendered once per state, those of others on request. */
  readonly renderers: readonly [StationRenderer, ...StationRenderer[]]
  readonly log: Logger
  /**
   * Stores a station's live state again under a higher offset: Redis lost changes that were shown, because a
   * replica that was behind was promoted or a dump was restored. Offsets of an epoch must not decrease.
   */
  readonly renew: (shown: ShownPosition) => Promise<void>
  readonly readIdentities: ReadStationIdentities
  /** Default: a record of its own. */
  readonly stationFaults?: StationFaults
  /** Interval after which the next quarter of the shards is compared. */
  readonly checkIntervalMs?: number
}

/** Events of a restored connection: to a single Redis, and to a cluster that had lost nodes. */
const backEvents = ['ready', 'subscribersReady'] as const

/** Interval of probes of the subscriber connection. */
const probeMs = 4_000

/** Maximum number of shards that are read at a time at the start. All at once would need much memory. */
const shardsAtOnce = 4

/** States that were compared longer ago count as stale. */
const currentForMs = 5_000

/**
 * Keeps the newest state of every station in memory. It follows the changes channels of Redis. Because
 * messages can be lost, it also compares each shard with Redis every 2 seconds, and all after a reconnect.
 * While Redis is unavailable or empty, the newest known states stay. A new station or epoch is accepted once
 * Postgres confirms its epoch, name and privacy, because a restored dump of Redis may contain old ones. A
 * station with an empty position was deleted. Throws if Redis cannot be read now; retries later.
 */
export async function openFeed(options: FeedOptions) {
  const { redis, subscriber, writes, renderers, log, renew, readIdentities, checkIntervalMs = 450 } = options
  const { stationFaults = openStationFaults(log) } = options
  const listeners = new Set<ChangeListener>()
  const removalListeners = new Set<RemovalListener>()
  const catalogue = openStationCatalogue(renderers[0], { onRemoved: notifyRemoval, onUnrendered })
  const renewing = new Set<number>()
  const readSequence = openSequenceReader(redis)
  const shared = {
    redis,
    catalogue,
    readIdentities,
    readSequence,
    notify,
    onOutcome,
    onSetBack,
    onStation,
    onUnknownIdentities
  }
  const followers = allShards.map(shard => followShard({ shard, ...shared }))
  let isOpen = false
  let isAway = false
  let isOutdated = false
  let lastCheckMs = -Infinity
  let nextShard = 0

  function onOutcome(error: unknown): void {
    if (error === null) lastCheckMs = performance.now()
    isAway = followers.some(follower => follower.isAway())
  }

  function onStation(stationId: number, error: unknown): void {
    if (error === null) stationFaults.clear('show', stationId)
    else stationFaults.note('show', stationId, error)
  }

  function onUnrendered({ stationId }: LiveStation, error: unknown): void {
    stationFaults.note('render', stationId, error)
  }

  function onUnknownIdentities(error: unknown): void {
    log.warn({ err: error }, 'identities of stations could not be read; serving the newest known states')
  }

  /** Logs one line when states become unreadable because a newer release wrote them, and one at the end. */
  function noteOutdated(): void {
    const isSo = followers.some(follower => follower.isOutdated())
    if (isSo === isOutdated) return
    isOutdated = isSo
    if (isOutdated) log.warn('live states of a newer release cannot be read; serving the newest known ones')
    else log.info('the live states can be read again')
  }

  function onSetBack(shown: ShownPosition): void {
    const { stationId } = shown
    if (renewing.has(stationId)) return
    renewing.add(stationId)
    log.warn({ station: stationId }, 'redis has lost changes that were shown; the live state is stored again')
    // If this fails, the next check calls it again.
    void renew(shown)
      .catch((error: unknown) =>
        log.warn({ err: error, station: stationId }, 'live state not stored again yet')
      )
      .finally(() => renewing.delete(stationId))
  }

  /** An error of one listener does not affect the others. */
  function notifyAll<Listener>(all: Iterable<Listener>, call: (listener: Listener) => void, about: object) {
    for (const listener of all) {
      try {
        call(listener)
      } catch (error) {
        log.error({ err: error, ...about }, 'a listener of the feed failed')
      }
    }
  }

  function notifyRemoval(idOrName: string): void {
    notifyAll(removalListeners, listener => listener(idOrName), { station: idOrName })
  }

  function notify(station: LiveStation, triggers: readonly Trigger[]): void {
    // States that are read at the start have no readers yet.
    if (!isOpen) return station.compress()
    notifyAll(listeners, listener => listener(station, triggers), { station: station.stationId })
  }

  const followerOf = (stationId: number) => followers[shardOf(stationId)]

  const onMessage = (_channel: string, message: string) => {
    const parsed = parseStationMessage(message)
    if (parsed === null) return
    if (parsed.type !== 'removal')
      feedLagMetric.observe(Math.max(0, engineTimeMs() - parsed.position.offset) / 1_000)
    followerOf(parsed.stationId)?.receive(parsed)
  }

  function checkNext(): void {
    const count = allShards.length / 4
    noteOutdated()
    for (const follower of followers.slice(nextShard, nextShard + count)) void follower.check()
    nextShard = (nextShard + count) % allShards.length
  }

  /** After a reconnect, messages may have been missed, also by a check in flight. */
  const checkAll = () => {
    for (const follower of followers) {
      follower.invalidate()
      void follower.check().then(() => {
        follower.invalidate()
        return follower.check()
      })
    }
  }

  const isConnected = () => !isAway && subscriber.status === 'ready'

  const compareAll = () => forEachConcurrently(followers, shardsAtOnce, follower => follower.compareAll())

  await compareAll()
  if (followers.some(follower => follower.checkedAtMs() === 0))
    throw new Error('redis: the live states cannot be read')
  subscriber.on('smessage', onMessage)
  subscriber.on('error', noOp)
  await subscribeToShards(subscriber)
  for (const event of backEvents) subscriber.on(event, checkAll)
  // Reads what changed between the first comparison and the subscription.
  await compareAll()
  await writes.check()
  lastCheckMs = performance.now()
  // A connection that does not answer is replaced.
  const probeSubscriber = () => void probeSubscriptions(subscriber).catch(noOp)
  isOpen = true
  const stopCompression = startStateCompression(catalogue.all)
  const timers = [setInterval(checkNext, checkIntervalMs), setInterval(probeSubscriber, probeMs)]

  return {
    get: catalogue.get,
    find: catalogue.find,
    namesOf: catalogue.namesOf,
    all: catalogue.all,
    publicIds: catalogue.publicIds,
    publicList: catalogue.publicList,
    longList: catalogue.longLists.take,
    list: catalogue.list,
    /** Notes a station whose state cannot be rendered. */
    onUnrendered,
    renderers,
    /** Calls `listener` after every change of a station; returns the function that unsubscribes. */
    onChange: (listener: ChangeListener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Calls `listener` when a station is deleted or renamed; returns the function that unsubscribes. */
    onRemoved: (listener: RemovalListener) => {
      removalListeners.add(listener)
      return () => void removalListeners.delete(listener)
    },
    /** Reads a station from Redis now, without waiting for a message. Never rejects. */
    catchUp: async (stationId: number) => followerOf(stationId)?.catchUp(stationId),
    /** `checkedAtMs` (Unix milliseconds): until when all shards were compared and Redis accepted writes. */
    health: () => ({
      isNodeRefusing: writes.isNodeRefusing(),
      checkedAtMs: Math.min(writes.writableAtMs(), ...followers.map(follower => follower.checkedAtMs())),
      stations: catalogue.size()
    }),
    /** Whether Redis accepts writes and a shard was compared within the last 5 seconds. */
    isCurrent: () =>
      isConnected() && !isOutdated && !writes.isRefusing() && performance.now() - lastCheckMs < currentForMs,
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      stopCompression()
      listeners.clear()
      removalListeners.clear()
      subscriber.off('smessage', onMessage)
      for (const event of backEvents) subscriber.off(event, checkAll)
      await Promise.all(followers.map(follower => follower.close()))
    }
  }
}

/** Outages of the subscriber connection are noticed by its status. */
const noOp = () => {}
