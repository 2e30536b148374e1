import { setTimeout as wait } from 'node:timers/promises'

import type { EmbeddedService, ServiceOptions } from './service.ts'

const attempts = 5

/**
 * Starts a service and starts it again, at the same address, whenever it ends unasked. `onEnd` hears of each such
 * end, and with `isFinal` that it could not be started again. Aborting `starting` gives the first start up, and
 * means nothing after it.
 */
export async function supervise(
  start: (options: ServiceOptions) => Promise<EmbeddedService>,
  onEnd: (output: string, isFinal: boolean) => void,
  starting: AbortSignal
): Promise<{ url: string; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const giveUp = () => stopping.abort()
  starting.addEventListener('abort', giveUp)
  let service = await start({ signal }).finally(() => starting.removeEventListener('abort', giveUp))
  const { url, port } = service

  const watch = async () => {
    while (!signal.aborted) {
      await service.exited
      if (signal.aborted) return
      onEnd(service.lastOutput(), false)
      for (let attempt = 1; attempt <= attempts && !signal.aborted; attempt++) {
        try {
          service = await start({ port, signal })
          break
        } catch (error) {
          if (signal.aborted) return
          if (attempt === attempts) return onEnd(error instanceof Error ? error.message : String(error), true)
          await wait(attempt * 300)
        }
      }
    }
  }
  const watching = watch()
  return {
    url,
    stop: async () => {
      stopping.abort()
      await service.stop()
      await watching
    }
  }
}
