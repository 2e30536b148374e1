import { type HlsLogOptions, openHlsLog } from '../src/broadcast/hls/hls-log.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat, type Repetition } from '../src/runtime/repeat.ts'

const longestPauseMs = 2_000

/** Counts HLS listeners from an access log. */
export function startHlsLog(services: PlayoutServices, options: HlsLogOptions): Repetition {
  const hlsLog = openHlsLog(services, options)
  return repeat(() => hlsLog.update(engineTimeMs()), {
    // Several runs within the time in which a listener has to fetch again.
    pauseMs: Math.min(longestPauseMs, options.segmentMs / 2),
    log: services.log,
    failure: 'HLS listeners not counted',
    onStopped: () => hlsLog.close()
  })
}
