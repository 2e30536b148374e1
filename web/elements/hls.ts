import HlsPlayer, { Events } from 'hls.js/light'

import type { HlsAttachment } from './audio-player.ts'

interface HlsOptions {
  /** The clock that program date times are compared with. */
  readonly serverTimeMs: () => number
  /** Called when the stream fails for good. */
  readonly onFailure: () => void
}

/** Plays an HLS stream in a media element. */
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
  hls.loadSource(url)
  hls.attachMedia(media)
  return {
    delay(): number | null {
      const { playingDate, latency } = hls
      if (playingDate !== null) return (serverTimeMs() - playingDate.getTime()) / 1_000
      return latency > 0 ? latency : null
    },
    close: () => hls.destroy()
  }
}
