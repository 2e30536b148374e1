import HlsPlayer, { Events } from 'hls.js/light'

import type { HlsAttachment } from './audio-player.ts'
import { openLiveEdge } from './live-edge.ts'

interface HlsOptions {
  /** The clock that program date times are compared with. */
  readonly serverTimeMs: () => number
  /** Called when the stream fails for good. */
  readonly onFailure: () => void
}

const timeoutMs = 5_000

/**
 * Plays an HLS stream in a media element. Its delay is the time of the server minus the program date time of what
 * plays. Without program date times, it is the distance to the live edge.
 */
export function attachHls(
  media: HTMLMediaElement,
  url: string,
  { serverTimeMs, onFailure }: HlsOptions
): HlsAttachment {
  // The policy of pages forbids workers from other sources, and audio needs none.
  const hls = new HlsPlayer({ enableWorker: false, lowLatencyMode: true })
  hls.on(Events.ERROR, (_, { fatal }) => {
    if (fatal) onFailure()
  })
  const liveEdge = openLiveEdge({
    now: () => performance.now(),
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve()), ms)
      }),
    async fetchText(address, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      const response = await fetch(address, { cache: 'no-store', signal: limit })
      return response.text()
    }
  })
  hls.on(Events.LEVEL_UPDATED, (_, { details }) => {
    if (details.live && !details.hasProgramDateTime) liveEdge.update(details)
  })
  hls.loadSource(url)
  hls.attachMedia(media)
  return {
    delay(): number | null {
      const { playingDate } = hls
      if (playingDate !== null) return (serverTimeMs() - playingDate.getTime()) / 1_000
      const edge = liveEdge.position()
      return edge === null ? null : edge - media.currentTime
    },
    close() {
      liveEdge.close()
      hls.destroy()
    }
  }
}
