import { DeadlineExceeded } from '../../platform/runtime/deadline.ts'
import { openSharedThread, ThreadLostError } from '../../platform/runtime/thread-tasks.ts'
import type { AudioFile } from './audio-file.ts'
import { UnusableFileError } from './unusable-file.ts'

/** A file, which must be inside one of the real paths `realRoots`. `name` is the title of a file without one. */
interface AudioFileTask {
  readonly path: string
  readonly realRoots: readonly string[]
  readonly name: string
}

/** What the thread does. */
export interface AudioFileThread {
  readonly task: AudioFileTask
  readonly result: { readonly file: AudioFile } | { readonly failure: string }
}

/** Reading ends by itself after ten seconds; other files may be read before. */
const timeoutMs = 60_000

const run = openSharedThread<AudioFileThread>('src/library/media/audio-file-thread.js', {
  idleMs: 30_000,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 }
})

/**
 * Reads an audio file as `readAudioFile` does, in a thread: an MP3 without a header takes 0.3 seconds of CPU. Throws an
 * `UnusableFileError` for any problem of the file.
 */
export async function readAudioFileInThread(task: AudioFileTask): Promise<AudioFile> {
  const result = await run(task, timeoutMs).catch((error: unknown) => {
    if (error instanceof DeadlineExceeded) throw new UnusableFileError('it takes too long to read')
    if (error instanceof ThreadLostError)
      throw new UnusableFileError('it cannot be read', { cause: error.cause })
    throw error
  })
  if ('failure' in result) throw new UnusableFileError(result.failure)
  const { cover, ...file } = result.file
  // Buffers arrive as plain arrays of bytes.
  return { ...file, cover: cover && { ...cover, bytes: Buffer.from(cover.bytes) } }
}
