import { runThreadTasks } from '../../platform/runtime/thread-tasks.ts'
import { readAudioFile } from './audio-file.ts'
import type { AudioFileThread } from './read-in-thread.ts'
import { UnusableFileError } from './unusable-file.ts'

/* The thread that `read-in-thread.ts` starts. */

runThreadTasks<AudioFileThread>(2, async ({ path, realRoots, name }) => {
  try {
    return { file: await readAudioFile(path, realRoots, name) }
  } catch (error) {
    return { failure: error instanceof UnusableFileError ? error.message : 'it cannot be read' }
  }
})
