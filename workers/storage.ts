import { repeat, type Repetition } from '../src/runtime/repeat.ts'
import { measureDue, type StorageDeps, updateFreeSpace } from '../src/storage/refresh.ts'

const volumesMs = 60_000
/** A bucket that takes minutes must not delay all folders. */
const lanes = 4

/** Measures storage locations that are due, a few at a time, and the free space of volumes. */
export function startStorage(parts: StorageDeps): Repetition {
  let volumesAtMs = 0
  const run = async (signal: AbortSignal) => {
    if (performance.now() >= volumesAtMs) {
      await updateFreeSpace(parts, signal)
      volumesAtMs = performance.now() + volumesMs
    }
    await measureDue(parts, lanes, signal)
  }
  return repeat(run, { pauseMs: 1_000, log: parts.log, failure: 'storage not measured' })
}
