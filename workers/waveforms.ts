import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

import { makeWaveform, type WaveformResult, waveformTimeoutMs } from '../src/library/media/make-waveform.ts'
import type { FileStore } from '../src/library/storage/file-store.ts'
import {
  findMediaFolder,
  locateSong,
  resolveAllowedMediaFolder
} from '../src/library/storage/media-folder.ts'
import { StorageFault } from '../src/library/storage/storage-fault.ts'
import { openMediaStore } from '../src/library/uploads/media-store.ts'
import { withAbortTimeout, withDeadline } from '../src/platform/runtime/deadline.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import {
  returnWaveformRequest,
  storeWaveform,
  dequeueWaveformRequest,
  type WaveformRequest
} from '../src/stores/db/library/waveforms.ts'
import type { TaskLoop, TaskServices } from './task.ts'

type WaveformServices = Pick<TaskServices, 'sql' | 'config' | 'secrets'>

/** The folder may be on a file system that hangs. */
const locateTimeoutMs = 5_000
/** Longer than making a waveform and storing it takes. */
const leaseMs = waveformTimeoutMs + 4 * 60_000
const copyTimeoutMs = 2 * 60_000
const maxCopiedBytes = 512 * 1024 * 1024
const pieceBytes = 1024 * 1024
/** A file that ended this many processes is not tried again. */
const maxAttempts = 3

/** Makes requested waveforms, one at a time, without a pause while there are more. */
export function openWaveformLoop(services: WaveformServices): TaskLoop {
  return async signal => {
    const request = await dequeueWaveformRequest(services.sql, engineTimeMs(), leaseMs)
    if (request === null) return undefined
    await respond(services, request, signal)
    return 0
  }
}

async function respond(services: WaveformServices, request: WaveformRequest, signal: AbortSignal) {
  const { sql } = services
  try {
    const result = await make(services, request, signal)
    const outcome =
      'failure' in result
        ? result
        : {
            sample_rate: result.waveform.sampleRate,
            samples_per_pixel: result.waveform.samplesPerPixel,
            peaks: Buffer.from(result.waveform.peaks.buffer)
          }
    await storeWaveform(sql, request, outcome, engineTimeMs())
  } catch (error) {
    if (signal.aborted) await returnWaveformRequest(sql, request)
    throw error
  }
}

async function make(
  services: WaveformServices,
  { stationId, path, attempts }: WaveformRequest,
  signal: AbortSignal
): Promise<WaveformResult> {
  const { sql, config } = services
  if (attempts > maxAttempts) return { failure: 'decoding it failed several times' }
  const folder = await sql.begin(tx => findMediaFolder(tx, stationId, config.DATA_DIR))
  if (folder === null && !isAbsolute(path)) return makeOfRemote(services, stationId, path, signal)
  const located = await withDeadline(locateTimeoutMs, 'locating a song', async () => ({
    path: await locateSong(path, folder, config),
    root: isAbsolute(path) ? dirname(path) : folder && (await resolveAllowedMediaFolder(folder, config))
  }))
  if (located.path === null || located.root === null) return { failure: 'it is outside the media folder' }
  return makeWaveform({ path: located.path, realRoots: [located.root] }, signal)
}

/** Copies a file of a bucket or an SFTP server, whose clients cannot be used in the thread that decodes. */
async function makeOfRemote(
  services: WaveformServices,
  stationId: number,
  path: string,
  signal: AbortSignal
): Promise<WaveformResult> {
  const { files } = await openMediaStore(services, stationId)
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-waveform-'))
  try {
    const copy = join(folder, 'file')
    const problem = await withAbortTimeout(signal, copyTimeoutMs, limit => copyFile(files, path, copy, limit))
    return problem === null
      ? await makeWaveform({ path: copy, realRoots: [folder] }, signal)
      : { failure: problem }
  } catch (error) {
    if (error instanceof StorageFault) return { failure: 'its storage cannot be read' }
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns why a file was not copied; null if it was. */
async function copyFile(
  files: FileStore,
  path: string,
  target: string,
  signal: AbortSignal
): Promise<string | null> {
  const stored = await files.stat(path)
  if (stored === null) return 'it does not exist'
  if (stored.sizeBytes > maxCopiedBytes) return 'it is too large to be copied from its storage'
  await using copy = await open(target, 'wx')
  for (let offset = 0; offset < stored.sizeBytes;) {
    if (signal.aborted) return 'it takes too long to copy from its storage'
    const bytes = await files.read(path, offset, pieceBytes)
    if (bytes.length === 0) return 'it was changed meanwhile'
    await copy.write(bytes)
    offset += bytes.length
  }
  return null
}
