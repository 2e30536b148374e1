import { runInTimeSlices } from '../../platform/runtime/time-slices.ts'
import type { LiveStation } from './live-station.ts'

/** The state of a station is compressed after one to two of these periods without use. */
const periodMs = 60_000

const intervalMs = 1_000

/** Length of a time slice. */
const sliceMs = 1

/**
 * Compresses the states of unused stations, a part of them each second. Returns the function that stops it.
 */
export function startStateCompression(all: () => readonly LiveStation[]): () => void {
  let next = 0
  let isRunning = false

  async function compressPart(): Promise<void> {
    const stations = all()
    if (next >= stations.length) next = 0
    const part = stations.slice(next, next + Math.ceil((stations.length * intervalMs) / periodMs))
    next += part.length
    const rest = part.values()
    await runInTimeSlices(sliceMs, () => {
      const { done, value: station } = rest.next()
      station?.compressUnlessUsed()
      return done !== true
    })
  }

  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void compressPart().finally(() => (isRunning = false))
  }, intervalMs)
  return () => clearInterval(timer)
}
