import { setTimeout as sleep } from 'node:timers/promises'

import type { Stage } from './live-stage.ts'
import { connectBy, transports, type Way } from './live-ways.ts'
import { sized } from './tier.ts'

const pauseMs = sized({ quick: 200, deep: 50 })

/** The observations of valid clients during attacks. */
export interface Witnesses {
  /** Stops, and throws if a client missed a change. Returns the number of changes and the longest delay. */
  readonly finish: () => Promise<{ changes: number; worstMs: number }>
}

/**
 * One valid client per transport, and a station that changes continuously: each client must receive each
 * change within a second and a half, and an ordinary request must be answered in the same time.
 */
export async function openWitnesses(stage: Stage, ways: readonly Way[] = transports): Promise<Witnesses> {
  const station = await stage.put()
  const message = { subs: { [station.channel]: { recover: true } } }
  const readers = await Promise.all(
    ways.map(async way => (await connectBy(way, { baseUrl: stage.baseUrl, message })).reader)
  )
  const life = new AbortController()
  let changes = 0
  let worstMs = 0

  async function watch(): Promise<void> {
    while (!life.signal.aborted) {
      const { offset } = await station.play(`Song ${changes}`)
      const startedAtMs = Date.now()
      await Promise.all([
        ...readers.map(reader => reader.until('pub', ({ pub }) => pub.offset === offset, 1_500)),
        fetch(`${stage.baseUrl}/api/nowplaying/${station.id}`, { signal: AbortSignal.timeout(1_500) })
      ])
      worstMs = Math.max(worstMs, Date.now() - startedAtMs)
      changes++
      await sleep(pauseMs)
    }
  }

  const watching = watch()
  // Its errors are thrown by `finish`.
  watching.catch(() => {})
  return {
    finish: async () => {
      life.abort()
      await watching
      for (const reader of readers) reader.check()
      return { changes, worstMs }
    }
  }
}
