import { setTimeout as wait } from 'node:timers/promises'

import type { EmbeddedService, ServiceOptions } from './service.ts'

const retryAtLeastMs = 1_000
const retryAtMostMs = 30_000
/** A service that ran for longer is started again at once. */
const steadyMs = 30_000

/** Why a service is away, and when it is started again: 0 for now. */
export interface ServiceOutage {
  readonly cause: 'ended' | 'not-started'
  /** What it wrote last, or why it could not be started. */
  readonly output: string
  readonly retryMs: number
}

/**
 * Starts a service and starts it again, at the same address, whenever it ends unasked: at once, and then after growing pauses for as long
 * as it ends soon or cannot be started. `onOutage` is called before each attempt. Once `life` is aborted nothing is started any more: a
 * first start in flight is aborted, and a running service goes on until `stop`. Rejects if the first start fails.
 */
export async function supervise(
  start: (options: ServiceOptions) => Promise<EmbeddedService>,
  onOutage: (outage: ServiceOutage) => void,
  life: AbortSignal
): Promise<{ url: string; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const abortStart = () => stopping.abort()
  life.addEventListener('abort', abortStart)
  let service = await start({ signal }).finally(() => life.removeEventListener('abort', abortStart))
  const { url, port } = service
  const over = AbortSignal.any([signal, life])

  let pauseMs = 0
  const restart = async () => {
    let outage: Omit<ServiceOutage, 'retryMs'> = { cause: 'ended', output: service.lastOutput() }
    while (!over.aborted) {
      const retryMs = Math.round(pauseMs * (0.75 + Math.random() / 2))
      pauseMs = Math.min(Math.max(pauseMs * 2, retryAtLeastMs), retryAtMostMs)
      onOutage({ ...outage, retryMs })
      try {
        await wait(retryMs, undefined, { signal: over })
        service = await start({ port, signal })
        return
      } catch (error) {
        outage = { cause: 'not-started', output: error instanceof Error ? error.message : String(error) }
      }
    }
  }
  const watch = async () => {
    while (!over.aborted) {
      const startedAtMs = performance.now()
      await service.exited
      if (performance.now() - startedAtMs > steadyMs) pauseMs = 0
      await restart()
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
