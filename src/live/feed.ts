import type { Logger } from '../log.ts'
import type { RedisClient } from '../redis/connection.ts'
import { changesChannel, shardOf, shards } from '../redis/keys.ts'
import {
  type Change,
  parseChange,
  parsePosition,
  readPositions,
  readStates,
  renderPosition
} from '../redis/station-store.ts'
import type { StationState } from '../station/state.ts'
import { type Trigger, triggers as knownTriggers } from '../station/triggers.ts'
import { type Catalogue, openCatalogue } from './catalogue.ts'
import type { LiveStation } from './live-station.ts'

export type ChangeListener = (station: LiveStation, triggers: readonly Trigger[]) => void

/**
 * Unix milliseconds: `lastCheckMs` when a part of Redis was last compared with what is in memory, `checkedAtMs` when the
 * newest comparison of everything began.
 */
export interface FeedHealth {
  readonly connected: boolean
  readonly lastCheckMs: number
  readonly checkedAtMs: number
  readonly stations: number
}

/**
 * Every station's newest state, in memory. It follows Redis by the changes channels, and because a message can be
 * lost it also compares positions: every shard within 2 seconds, all of them after a reconnect. While Redis is
 * away or empty the newest known states stay.
 *
 * A station whose position is the empty text has been deleted, and is forgotten.
 */
export interface Feed extends Pick<Catalogue, 'get' | 'find' | 'all' | 'publicList' | 'list'> {
  /** Calls `listener` after every change of a station; gives the function that ends this. */
  readonly onChange: (listener: ChangeListener) => () => void
  /** Takes in what Redis has of a station now, whether its message has come or not. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  /** Takes in a newer state of a station that this server knows, if Redis has one. Never rejects. */
  readonly refresh: (stationId: number) => Promise<void>
  readonly health: () => FeedHealth
  readonly close: () => Promise<void>
}

export interface FeedOptions {
  /** For reading; it may be shared. */
  readonly redis: RedisClient
  /** For the changes channels only. Both connections stay open when the feed closes. */
  readonly subscriber: RedisClient
  readonly baseUrl: string
  readonly log: Logger
  /** How often a part of the shards is compared; four times make a whole round. */
  readonly checkIntervalMs?: number
}

/** What a connection says when it is back: a plain one, and that of a cluster when only some of its nodes were lost. */
const backEvents = ['ready', 'subscribersReady'] as const

/** How many stations are read in one go. */
const chunk = 500

/** Loads all stations and follows them. Throws if Redis cannot be read now; later outages are waited out. */
export async function openFeed(options: FeedOptions): Promise<Feed> {
  const { redis, subscriber, baseUrl, log, checkIntervalMs = 450 } = options
  const catalogue = openCatalogue(baseUrl)
  const listeners = new Set<ChangeListener>()
  /** Stations to read, with the triggers their listeners have to hear of. */
  const pending = new Map<number, Set<Trigger>>()
  /** Stations that were forgotten while a read was under way, which may have found them still there. */
  const forgotten = new Set<number>()
  let reading: Promise<void> | null = null
  let checking: Promise<void> | null = null
  let isAway = false
  let isClosed = false
  let lastCheckMs = 0
  const shardCheckedAtMs = new Map(shards.map(shard => [shard, 0]))
  let nextShard = 0

  function noteAway(error: unknown): void {
    if (isAway || isClosed) return
    isAway = true
    log.warn({ reason: String(error) }, 'redis is away, the newest known states are served')
  }

  function noteBack(): void {
    if (isAway) log.info('redis is back')
    isAway = false
  }

  function tell(station: LiveStation, triggers: readonly Trigger[]): void {
    for (const listener of listeners) {
      try {
        listener(station, triggers)
      } catch (error) {
        log.error({ err: error, station: station.state.stationId }, 'a listener of the feed failed')
      }
    }
  }

  function wish(stationId: number, triggers: Iterable<Trigger>): void {
    const wanted = pending.get(stationId) ?? new Set()
    for (const trigger of triggers) wanted.add(trigger)
    pending.set(stationId, wanted)
  }

  function forget(stationId: number): void {
    pending.delete(stationId)
    forgotten.add(stationId)
    catalogue.remove(stationId)
  }

  function heard(message: string): void {
    const change = changeOf(message)
    if (change === null) return
    const { stationId, position, triggers } = change
    if (position === '') return forget(stationId)
    const known = catalogue.get(stationId)
    // A check may have been faster than the message; then only its triggers are still news.
    if (known !== undefined && !pending.has(stationId) && isReached(known.state, position)) {
      if (triggers.length > 0) tell(known, triggers)
      return
    }
    wish(stationId, triggers)
    void readPending()
  }

  /** Reads what is wanted; what is wanted meanwhile is read after that, once per station. */
  function readPending(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  async function readAll(): Promise<void> {
    while (pending.size > 0) {
      const batch = [...pending].slice(0, chunk)
      for (const [stationId] of batch) pending.delete(stationId)
      forgotten.clear()
      try {
        const states = await readStates(
          redis,
          batch.map(([stationId]) => stationId)
        )
        for (const [index, [stationId, triggers]] of batch.entries())
          take(stationId, states[index] ?? null, triggers)
        noteBack()
      } catch (error) {
        noteAway(error)
        if (isClosed) return
        // The next check tries again.
        for (const [stationId, triggers] of batch) wish(stationId, triggers)
        return
      }
    }
  }

  function take(stationId: number, state: StationState | null, triggers: ReadonlySet<Trigger>): void {
    if (forgotten.has(stationId)) return
    const isNews = state !== null && catalogue.put(state)
    const station = catalogue.get(stationId)
    if (station !== undefined && (isNews || triggers.size > 0)) tell(station, [...triggers])
  }

  /** Compares shards with what is in memory, and reads what differs. Throws if Redis does not answer. */
  async function compare(shardsToCheck: readonly number[]): Promise<void> {
    const startedMs = Date.now()
    const found = await Promise.all(shardsToCheck.map(shard => readPositions(redis, shard)))
    for (const positions of found) {
      for (const [stationId, position] of positions) {
        const known = catalogue.get(stationId)
        if (position === '') forget(stationId)
        else if (known === undefined || renderPosition(known.state) !== position) wish(stationId, [])
      }
    }
    lastCheckMs = Date.now()
    await readPending()
    // What could not be read is still wanted.
    if (pending.size === 0) for (const shard of shardsToCheck) shardCheckedAtMs.set(shard, startedMs)
  }

  /** A check that never rejects and never runs twice at once. */
  function check(shardsToCheck: readonly number[]): Promise<void> {
    checking ??= compare(shardsToCheck)
      .then(noteBack, noteAway)
      .finally(() => {
        checking = null
      })
    return checking
  }

  function checkNext(): void {
    if (checking !== null) return
    const count = shards.length / 4
    const part = shards.slice(nextShard, nextShard + count)
    nextShard = (nextShard + count) % shards.length
    void check(part)
  }

  /** After a reconnect anything may have been missed. */
  const checkAll = () => void (checking ?? Promise.resolve()).then(() => check(shards))

  const onMessage = (_channel: string, message: string) => heard(message)
  await compare(shards)
  if (pending.size > 0) throw new Error('redis: the live states cannot be read')
  subscriber.on('smessage', onMessage)
  subscriber.on('error', noteAway)
  await Promise.all(shards.map(shard => subscriber.ssubscribe(changesChannel(shard))))
  for (const event of backEvents) subscriber.on(event, checkAll)
  // What changed between the first look and the subscription.
  await compare(shards)
  const timer = setInterval(checkNext, checkIntervalMs)

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
    catchUp: stationId => compare([shardOf(stationId)]).then(noteBack, noteAway),
    refresh: stationId => {
      wish(stationId, [])
      return readPending()
    },
    health: () => ({
      connected: !isAway && subscriber.status === 'ready',
      lastCheckMs,
      checkedAtMs: Math.min(...shardCheckedAtMs.values()),
      stations: catalogue.all().length
    }),
    close: async () => {
      isClosed = true
      clearInterval(timer)
      listeners.clear()
      pending.clear()
      subscriber.off('smessage', onMessage)
      subscriber.off('error', noteAway)
      for (const event of backEvents) subscriber.off(event, checkAll)
      await Promise.all([checking, reading])
    }
  }
}

const triggerNames: ReadonlySet<string> = new Set(knownTriggers)

/** A message that makes sense; null for anything else that may be published on the channel. */
function changeOf(message: string): Change | null {
  try {
    const { stationId, position, triggers } = parseChange(message)
    if (!Number.isSafeInteger(stationId) || typeof position !== 'string') return null
    return { stationId, position, triggers: triggers.filter(trigger => triggerNames.has(trigger)) }
  } catch {
    return null
  }
}

function isReached(state: StationState, position: string): boolean {
  const { epoch, version } = parsePosition(position)
  return state.epoch === epoch && state.version >= version
}
