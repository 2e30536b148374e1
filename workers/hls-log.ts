import { setTimeout as sleep } from 'node:timers/promises'

import { type HlsLogOptions, openHlsLog } from '../src/broadcast/hls/log.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'

const lookMs = 2_000

/** Counts who listens to HLS by an access log. */
export function startHlsLog(
  services: PlayoutServices,
  options: HlsLogOptions
): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const hlsLog = openHlsLog(services, options)
  // Several looks fall into the time that a listener has to fetch again, however short it is.
  const periodMs = Math.min(lookMs, options.segmentMs / 2)
  let isFailing = false

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await hlsLog.look(engineTimeMs())
        isFailing = false
      } catch (error) {
        if (!isFailing) services.log.warn({ err: error }, 'HLS listeners not counted; trying again')
        isFailing = true
      }
      await sleep(periodMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {})
    }
    await hlsLog.close()
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
