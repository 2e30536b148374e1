import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { runInOwnThread, ThreadLostError } from '../../platform/runtime/thread-tasks.ts'
import type { Waveform } from './peaks.ts'

/** A file, which must be inside one of the real paths `realRoots`. */
export interface WaveformTask {
  readonly path: string
  readonly realRoots: readonly string[]
}

/** A waveform, or why there is none: a predicate about the file ("it does not exist"). */
export type WaveformResult = { readonly waveform: Waveform } | { readonly failure: string }

/** What the thread does. */
export interface WaveformThread {
  readonly task: WaveformTask
  readonly result: WaveformResult
}

/** Ten hours of MP3 take about two minutes of CPU. */
export const waveformTimeoutMs = 5 * 60_000
/** Of the thread's heap. Samples are outside of it; `decode-audio.ts` bounds them. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }

/** Makes the waveform of a file in a thread. Rejects with the reason of the signal if it is aborted. */
export async function makeWaveform(task: WaveformTask, signal: AbortSignal): Promise<WaveformResult> {
  try {
    return await withAbortTimeout(signal, waveformTimeoutMs, limit =>
      runInOwnThread<WaveformThread>('src/library/media/waveform-thread.js', task, limit, {
        resourceLimits,
        // The decoders print warnings about damaged files.
        isQuiet: true
      })
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return { failure: `it takes longer than ${waveformTimeoutMs / 60_000} minutes to decode` }
    if (error instanceof ThreadLostError && errorCodeOf(error.cause) === 'ERR_WORKER_OUT_OF_MEMORY')
      return { failure: 'it needs too much memory to decode' }
    throw error
  }
}
