import { dirname, isAbsolute } from 'node:path'

import type { Config } from '../src/config.ts'
import {
  returnWaveformRequest,
  storeWaveform,
  takeWaveformRequest,
  type WaveformRequest
} from '../src/db/waveforms.ts'
import { makeWaveform, type WaveformResult, waveformTimeoutMs } from '../src/media/make-waveform.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { withDeadline } from '../src/runtime/deadline.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat } from '../src/runtime/repeat.ts'
import { findMediaFolder, locateSong, resolveMediaFolder } from '../src/storage/media-folder.ts'

type WaveformServices = Pick<PlayoutServices, 'sql' | 'log'> & { readonly config: Config }

/** The pause if nothing is requested: an operator waits for the result. */
const pauseMs = 500
/** The folder may be on a file system that hangs. */
const locateTimeoutMs = 5_000
/** Longer than making a waveform and storing it takes. */
const leaseMs = waveformTimeoutMs + 60_000
/** A file that ended this many processes is not tried again. */
const maxAttempts = 3

/** Makes requested waveforms, one at a time. */
export function startWaveforms(services: WaveformServices) {
  return repeat(
    async signal => {
      const request = await takeWaveformRequest(services.sql, engineTimeMs(), leaseMs)
      if (request === null) return pauseMs
      await answer(services, request, signal)
      return 0
    },
    { pauseMs, log: services.log, failure: 'making waveforms failed' }
  )
}

async function answer(services: WaveformServices, request: WaveformRequest, signal: AbortSignal) {
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
  return withDeadline(leaseMs, 'making a waveform', async () => {
    const folder = await sql.begin(tx => findMediaFolder(tx, stationId, config.DATA_DIR))
    const located = await withDeadline(locateTimeoutMs, 'locating a song', async () => ({
      path: await locateSong(path, folder, config),
      root: isAbsolute(path) ? dirname(path) : folder && (await resolveMediaFolder(folder, config))
    }))
    if (folder === null && !isAbsolute(path)) return { failure: 'it is not stored on this machine' }
    if (located.path === null || located.root === null) return { failure: 'it is outside the media folder' }
    return makeWaveform({ path: located.path, realRoots: [located.root] }, signal)
  })
}
