import { setTimeout as wait } from 'node:timers/promises'

import type { EmbeddedService, ServiceOptions } from './service.ts'

const attempts = 5

/**
 * Starts a service and starts it again, at the same address, whenever it ends unasked. `onEnd` hears of each such
 * end, and with `isFinal` that it could not be started again. Once `life` is aborted nothing is started any more: a
 * first start that is under way is given up, and a running service goes on until `stop`.
 */
export async function supervise(
  start: (options: ServiceOptions) => Promise<EmbeddedService>,
  onEnd: (output: string, isFinal: boolean) => void,
  life: AbortSignal
): Promise<{ url: string; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const isOver = () => signal.aborted || life.aborted
  const giveUp = () => stopping.abort()
  life.addEventListener('abort', giveUp)
  let service = await start({ signal }).finally(() => life.removeEventListener('abort', giveUp))
  const { url, port } = service

  const watch = async () => {
    while (!isOver()) {
      await service.exited
      if (isOver()) return
      onEnd(service.lastOutput(), false)
      for (let attempt = 1; attempt <= attempts && !isOver(); attempt++) {
        try {
          service = await start({ port, signal })
          break
        } catch (error) {
          if (isOver()) return
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
