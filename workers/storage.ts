import { setTimeout as sleep } from 'node:timers/promises'

import { refreshDue, type RefreshParts, refreshVolumes } from '../src/storage/refresh.ts'

/** How often the worker looks for a location that is due, and for the room on the volumes. */
const lookMs = 1_000
const volumesMs = 60_000
/** A bucket that takes minutes must not hold up every folder. */
const lanes = 4

/** Keeps the usage of storage locations up to date, a few at a time. */
export function startStorage(parts: RefreshParts): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    let volumesAtMs = 0
    while (!signal.aborted) {
      try {
        if (performance.now() >= volumesAtMs) {
          await refreshVolumes(parts, signal)
          volumesAtMs = performance.now() + volumesMs
        }
        await refreshDue(parts, lanes, signal)
      } catch (error) {
        if (!signal.aborted) parts.log.warn({ err: error }, 'storage not counted; trying again')
      }
      await sleep(lookMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
