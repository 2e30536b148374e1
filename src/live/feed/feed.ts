import type { RedisClient } from '../../redis/connection.ts'
import { changesChannel, shardOf, shards } from '../../redis/keys.ts'
import { parseMessage } from '../../redis/messages.ts'
import { probeWrites } from '../../redis/station-store.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { Logger } from '../../runtime/log.ts'
import type { StationState } from '../../station/state.ts'
import type { Trigger } from '../../station/triggers.ts'
import { type Catalogue, openCatalogue } from './catalogue.ts'
import type { LiveStation } from './live-station.ts'
import { followShard, type ReadIdentities } from './shard-follower.ts'

export type ChangeListener = (station: LiveStation, triggers: readonly Trigger[]) => void
/** Called with an id or short name under which there is no station any more, or another one. */
export type RemovalListener = (idOrName: string) => void

/**
 * `lastCheckMs`: when a part of Redis was last compared with what is in memory, by `performance.now()`.
 * `checkedAtMs`: when the newest comparison of everything began, or Redis was asked last before it refused
 * writes, in Unix milliseconds.
 */
export interface FeedHealth {
  readonly connected: boolean
  readonly lastCheckMs: number
  readonly checkedAtMs: number
  readonly stations: number
}

/**
 * The newest state of every station, in memory. It follows the changes channels of Redis, and because
 * messages can be lost it also asks for changes: every shard within 2 seconds, and everything after a
 * reconnect. While Redis is unavailable or empty, the newest known states stay. A new station or epoch is
 * accepted once Postgres confirms its epoch, name and privacy, because a restored backup of Redis may contain
 * old ones.
 * A station whose position is empty was deleted and is removed.
 */
export interface Feed extends Pick<Catalogue, 'get' | 'find' | 'all' | 'publicList' | 'list'> {
  /** Calls `listener` after every change of a station; gives the function that ends this. */
  readonly onChange: (listener: ChangeListener) => () => void
  /** Calls `listener` when a station is deleted or renamed; gives the function that ends this. */
  readonly onGone: (listener: RemovalListener) => () => void
  /** Takes in what Redis has of a station now, whether its message has come or not. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  readonly health: () => FeedHealth
  /** Whether Redis takes writes, and was looked at within the last 5 seconds. */
  readonly isCurrent: () => boolean
  readonly close: () => Promise<void>
}

export interface FeedOptions {
  /** For reading; it may be shared. */
  readonly redis: RedisClient
  /** For the changes channels only. Both connections stay open when the feed closes. */
  readonly subscriber: RedisClient
  readonly baseUrl: string
  readonly log: Logger
  /**
   * Stores a station's live state again under a higher offset, because Redis has lost changes that were
   * shown: a replica that was behind took over, or a backup was restored. Nobody may be shown a lower offset
   * of the same epoch.
   */
  readonly renew: (shown: ShownPosition) => Promise<void>
  readonly readIdentities: ReadIdentities
  /** How often a part of the shards is compared; four times make a whole round. */
  readonly checkIntervalMs?: number
}

/** The position of a station that a server has shown. */
export type ShownPosition = Pick<StationState, 'stationId' | 'epoch' | 'offset'>

/**
 * Events of a connection that is restored: a plain one, and that of a cluster of which some nodes were lost.
 */
const backEvents = ['ready', 'subscribersReady'] as const

/** How often the connection for messages is probed. */
const probeMs = 4_000

/** How often Redis is asked whether it takes writes. */
const writeProbeMs = 1_000

/** An older comparison says nothing about the present. */
const currentForMs = 5_000

/** Loads all stations and follows them. Throws if Redis cannot be read now; later outages are retried. */
export async function openFeed(options: FeedOptions): Promise<Feed> {
  const { redis, subscriber, baseUrl, log, renew, readIdentities, checkIntervalMs = 450 } = options
  const listeners = new Set<ChangeListener>()
  const goneListeners = new Set<RemovalListener>()
  const catalogue = openCatalogue(baseUrl, tellGone)
  const renewing = new Set<number>()
  const followers = shards.map(shard =>
    followShard({ shard, redis, catalogue, readIdentities, tell, onOutcome, onSetBack, onUnknownIdentities })
  )
  let isAway = false
  let isOutdated = false
  let isRefusing = false
  let writableAtMs = 0
  let lastCheckMs = -Infinity
  let nextShard = 0

  const isPartAway = () => followers.some(follower => follower.isAway())

  /** One line when Redis, or a part of it, goes away, and one when all of it is back. */
  function onOutcome(error: unknown): void {
    if (error === null) lastCheckMs = performance.now()
    if (isPartAway() === isAway) return
    isAway = !isAway
    if (isAway) log.warn({ reason: String(error) }, 'redis connection lost; serving the newest known states')
    else log.info('redis connection restored')
  }

  function onUnknownIdentities(error: unknown): void {
    log.warn(
      { err: error },
      'the identities of stations could not be read; the newest known states are served'
    )
  }

  /** One line when a newer release begins to write what this one cannot read, and one when that is over. */
  function noteOutdated(): void {
    const isSo = followers.some(follower => follower.isOutdated())
    if (isSo === isOutdated) return
    isOutdated = isSo
    if (isOutdated)
      log.warn('live states of a newer release cannot be read; the newest known ones are served')
    else log.info('the live states can be read again')
  }

  /**
   * A full Redis answers reads, but nobody can store what changes. One line when it begins to refuse writes,
   * and one when that is over.
   */
  async function checkWrites(): Promise<void> {
    const startedMs = engineTimeMs()
    const fault = await probeWrites(redis).then(
      () => null,
      (error: unknown) => error
    )
    // No answer shows in the comparisons.
    const isRefused = fault instanceof Error && fault.name === 'ReplyError'
    if (fault === null) writableAtMs = startedMs
    if (isRefused === isRefusing) return
    isRefusing = isRefused
    if (isRefusing)
      log.warn({ reason: String(fault) }, 'redis refuses writes; the newest known states are served')
    else log.info('redis takes writes again')
  }

  function onSetBack(shown: ShownPosition): void {
    const { stationId } = shown
    if (renewing.has(stationId)) return
    renewing.add(stationId)
    log.warn({ station: stationId }, 'redis has lost changes that were shown; the live state is stored again')
    // The next check notices again what could not be done now.
    void renew(shown)
      .catch((error: unknown) =>
        log.warn({ err: error, station: stationId }, 'live state not stored again yet')
      )
      .finally(() => renewing.delete(stationId))
  }

  /** An error of one listener does not affect the others. */
  function tellAll<Listener>(
    all: Iterable<Listener>,
    call: (listener: Listener) => void,
    about: object
  ): void {
    for (const listener of all) {
      try {
        call(listener)
      } catch (error) {
        log.error({ err: error, ...about }, 'a listener of the feed failed')
      }
    }
  }

  function tellGone(idOrName: string): void {
    tellAll(goneListeners, listener => listener(idOrName), { station: idOrName })
  }

  function tell(station: LiveStation, triggers: readonly Trigger[]): void {
    tellAll(listeners, listener => listener(station, triggers), { station: station.state.stationId })
  }

  const followerOf = (stationId: number) => followers[shardOf(stationId)]

  const onMessage = (_channel: string, message: string) => {
    const parsed = parseMessage(message)
    if (parsed !== null) followerOf(parsed.stationId)?.receive(parsed)
  }

  function checkNext(): void {
    const count = shards.length / 4
    noteOutdated()
    for (const follower of followers.slice(nextShard, nextShard + count)) void follower.check()
    nextShard = (nextShard + count) % shards.length
  }

  /** After a reconnect anything may have been missed, also by a check that is under way. */
  const checkAll = () => {
    for (const follower of followers) {
      follower.distrust()
      void follower.check().then(() => {
        follower.distrust()
        return follower.check()
      })
    }
  }

  const isConnected = () => !isAway && subscriber.status === 'ready'

  const compareAll = () => Promise.all(followers.map(follower => follower.compareAll()))

  await compareAll()
  if (followers.some(follower => follower.checkedAtMs() === 0))
    throw new Error('redis: the live states cannot be read')
  subscriber.on('smessage', onMessage)
  subscriber.on('error', noOp)
  await Promise.all(shards.map(shard => subscriber.ssubscribe(changesChannel(shard))))
  for (const event of backEvents) subscriber.on(event, checkAll)
  // What changed between the first look and the subscription.
  await compareAll()
  await checkWrites()
  lastCheckMs = performance.now()
  const timer = setInterval(checkNext, checkIntervalMs)
  const writeProber = setInterval(() => void checkWrites(), writeProbeMs)
  // Changes nothing but that something is sent: where no answer comes, the connection is replaced.
  const prober = setInterval(() => {
    for (const shard of shards) subscriber.ssubscribe(changesChannel(shard)).catch(noOp)
  }, probeMs)

  return {
    get: catalogue.get,
    find: catalogue.find,
    all: catalogue.all,
    publicList: catalogue.publicList,
    list: catalogue.list,
    onChange: listener => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onGone: listener => {
      goneListeners.add(listener)
      return () => void goneListeners.delete(listener)
    },
    catchUp: async stationId => followerOf(stationId)?.catchUp(stationId),
    health: () => ({
      connected: isConnected(),
      lastCheckMs,
      checkedAtMs: Math.min(writableAtMs, ...followers.map(follower => follower.checkedAtMs())),
      stations: catalogue.all().length
    }),
    isCurrent: () =>
      isConnected() && !isOutdated && !isRefusing && performance.now() - lastCheckMs < currentForMs,
    close: async () => {
      clearInterval(timer)
      clearInterval(prober)
      clearInterval(writeProber)
      listeners.clear()
      goneListeners.clear()
      subscriber.off('smessage', onMessage)
      for (const event of backEvents) subscriber.off(event, checkAll)
      await Promise.all(followers.map(follower => follower.close()))
    }
  }
}

/** An outage of the connection for messages shows in its status, and in what the others say. */
const noOp = () => {}
