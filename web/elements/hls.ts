import HlsPlayer, { Events } from 'hls.js/light'

import type { HlsAttachment } from './audio-player.ts'

interface HlsOptions {
  /** The clock that program date times are compared with. */
  readonly serverTimeMs: () => number
  /** Called when the stream fails for good. */
  readonly onFailure: () => void
}

/** How long a position of the live edge counts. */
const edgeWindowMs = 60_000

/**
 * Plays an HLS stream in a media element. Its delay is the time of the server minus the program date time of what plays.
 * Without program date times, the live edge is where the playlist ended when it was found earliest in the last minute.
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
  let edges: readonly { readonly atMs: number; readonly seconds: number }[] = []
  hls.on(Events.LEVEL_UPDATED, (_, { details }) => {
    const atMs = performance.now()
    const recent = edges.filter(edge => atMs - edge.atMs < edgeWindowMs)
    edges = [...recent, { atMs, seconds: details.edge - atMs / 1_000 }]
  })
  hls.loadSource(url)
  hls.attachMedia(media)
  return {
    delay(): number | null {
      const { playingDate } = hls
      if (playingDate !== null) return (serverTimeMs() - playingDate.getTime()) / 1_000
      if (edges.length === 0) return null
      const edge = Math.max(...edges.map(({ seconds }) => seconds)) + performance.now() / 1_000
      return edge - media.currentTime
    },
    close: () => hls.destroy()
  }
}
