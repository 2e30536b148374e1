import { Worker } from 'node:worker_threads'

import { builtFile } from '../../platform/process/program-files.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { codeOf } from '../../platform/runtime/errors.ts'
import type { Waveform } from './peaks.ts'

/** A file, which must be inside one of the real paths `realRoots`. */
export interface WaveformTask {
  readonly path: string
  readonly realRoots: readonly string[]
}

/** A waveform, or why there is none: a predicate about the file ("it does not exist"). */
export type WaveformResult = { readonly waveform: Waveform } | { readonly failure: string }

/** Ten hours of MP3 take about two minutes of CPU. */
export const waveformTimeoutMs = 5 * 60_000
/** Of the thread's heap. Samples are outside of it; `decode-audio.ts` bounds them. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }

/** Makes the waveform of a file in a thread. Rejects with the reason of the signal if it is aborted. */
export async function makeWaveform(task: WaveformTask, signal: AbortSignal): Promise<WaveformResult> {
  const thread = new Worker(builtFile('src/library/media/waveform-thread.js'), {
    workerData: task,
    resourceLimits,
    // The decoders print warnings about damaged files.
    stdout: true,
    stderr: true
  })
  try {
    return await withAbortTimeout(
      signal,
      waveformTimeoutMs,
      limit =>
        new Promise<WaveformResult>((resolve, reject) => {
          limit.addEventListener('abort', () => reject(limit.reason), { once: true })
          if (limit.aborted) reject(limit.reason)
          thread.once('message', resolve)
          thread.once('error', reject)
          thread.once('exit', () => reject(new Error('the waveform thread exited without a result')))
        })
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return { failure: `it takes longer than ${waveformTimeoutMs / 60_000} minutes to decode` }
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') return { failure: 'it needs too much memory to decode' }
    throw error
  } finally {
    await thread.terminate()
  }
}
