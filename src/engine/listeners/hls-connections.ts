import { setTimeout as sleep } from 'node:timers/promises'

import { hlsListenersKey, hlsWantedKey } from '../../stores/redis/keys.ts'
import type { EngineServices } from '../services.ts'

/*
 * Who listens to HLS streams is known to the workers process that follows the access log. While a server asks for
 * the listeners of a station, that process writes them to Redis, where they expire within seconds.
 */

/** A listener of an HLS stream. */
export interface HlsConnection {
  readonly address: string
  readonly userAgent: string
  /** The path of its playlist below the folder of the station, without `.m3u8`. */
  readonly variant: string
  /** How long it has been listening. */
  readonly seconds: number
}

/** The listeners that the process knows. */
interface KnownListeners {
  readonly listStations: () => readonly string[]
  readonly listConnections: (shortName: string, nowMs: number, limit: number) => readonly HlsConnection[]
}

type Store = Pick<EngineServices, 'redis'>

const wantedSeconds = 30
const listSeconds = 10
const maxListed = 10_000
/** The log is read at least every two seconds. */
const waitMs = 3_000
const pauseMs = 100

/** Writes the listeners of the stations that servers ask for. */
export async function writeHlsConnections(
  { redis }: Store,
  listeners: KnownListeners,
  nowMs: number
): Promise<void> {
  await Promise.all(
    listeners.listStations().map(async shortName => {
      if ((await redis.exists(hlsWantedKey(shortName))) === 0) return
      const list = JSON.stringify(listeners.listConnections(shortName, nowMs, maxListed))
      await redis.set(hlsListenersKey(shortName), list, 'EX', listSeconds)
    })
  )
}

/** Reads the listeners of a station; null if no process writes them in time. */
export async function readHlsConnections(
  { redis }: Store,
  shortName: string,
  signal: AbortSignal
): Promise<HlsConnection[] | null> {
  await redis.set(hlsWantedKey(shortName), '1', 'EX', wantedSeconds)
  const endMs = performance.now() + waitMs
  for (;;) {
    const text = await redis.get(hlsListenersKey(shortName))
    // Written by `writeHlsConnections` only.
    if (text !== null) return JSON.parse(text)
    if (performance.now() > endMs || signal.aborted) return null
    await sleep(pauseMs)
  }
}
