import { runInTimeSlices } from '../../runtime/time-slices.ts'
import type { LiveStation } from './live-station.ts'

/** A station that is not used for this long, or twice as long, is packed. */
const periodMs = 60_000

const intervalMs = 1_000

/** Length of a time slice. */
const sliceMs = 1

/** Packs the stations that nobody uses, a part of them each second. Returns the function that stops it. */
export function startPacking(all: () => readonly LiveStation[]): () => void {
  let next = 0
  let isRunning = false

  async function packPart(): Promise<void> {
    const stations = all()
    if (next >= stations.length) next = 0
    const part = stations.slice(next, next + Math.ceil((stations.length * intervalMs) / periodMs))
    next += part.length
    const rest = part.values()
    await runInTimeSlices(sliceMs, () => {
      const { done, value: station } = rest.next()
      station?.packUnlessUsed()
      return done !== true
    })
  }

  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void packPart().finally(() => (isRunning = false))
  }, intervalMs)
  return () => clearInterval(timer)
}
