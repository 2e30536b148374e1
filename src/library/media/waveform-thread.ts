import {
  NotRegularFileError,
  openInsideRoots,
  OutsideRootsError
} from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { runThreadTasks } from '../../platform/runtime/thread-tasks.ts'
import { decodeAudio } from './decode-audio.ts'
import type { WaveformResult, WaveformTask, WaveformThread } from './make-waveform.ts'
import { openPeakCollector } from './peaks.ts'
import { UnusableFileError } from './unusable-file.ts'

/** Makes one waveform in a thread that `make-waveform.ts` starts. */
async function run({ path, realRoots }: WaveformTask): Promise<WaveformResult> {
  try {
    await using file = await openInsideRoots(path, realRoots)
    const peaks = openPeakCollector()
    for await (const samples of decodeAudio(file)) peaks.add(samples)
    const waveform = peaks.finish()
    return waveform === null ? { failure: 'it contains no audio' } : { waveform }
  } catch (error) {
    return { failure: describeFailure(error) }
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof UnusableFileError) return error.message
  if (error instanceof OutsideRootsError) return 'it is outside the media folder'
  if (error instanceof NotRegularFileError) return 'it is not a regular file'
  if (errorCodeOf(error) === 'ENOENT') return 'it does not exist'
  return `it cannot be read${errorCodeOf(error) === '' ? '' : ` (${errorCodeOf(error)})`}`
}

runThreadTasks<WaveformThread>(1, run)
