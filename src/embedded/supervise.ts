import { setTimeout as wait } from 'node:timers/promises'

import type { EmbeddedService } from './service.ts'

const attempts = 5

/**
 * Starts a service and starts it again, at the same address, whenever it ends unasked. `onEnd` hears of each such
 * end, and with `isFinal` that it could not be started again.
 */
export async function supervise(
  start: (port?: number) => Promise<EmbeddedService>,
  onEnd: (output: string, isFinal: boolean) => void
): Promise<{ url: string; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  let service = await start()
  const { url, port } = service

  const watch = async () => {
    while (!stopping.signal.aborted) {
      await service.exited
      if (stopping.signal.aborted) return
      onEnd(service.lastOutput(), false)
      for (let attempt = 1; attempt <= attempts && !stopping.signal.aborted; attempt++) {
        try {
          service = await start(port)
          break
        } catch (error) {
          if (attempt === attempts) return onEnd(String(error), true)
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
