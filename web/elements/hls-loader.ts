import type { AttachHls } from './audio-player.ts'
import type * as hlsScript from './hls.ts'
import { hasMediaSource } from './streams.ts'

type HlsScript = typeof hlsScript

/** Safari: the time of the stream, from its program date times, at which it began. */
interface DatedMedia {
  getStartDate?(): Date
}

/**
 * Loads the script that plays HLS when a stream is played for the first time; browsers without media sources play it
 * themselves. `serverTimeMs` is the clock that the program date times are compared with.
 */
export const openHlsLoader =
  (media: HTMLMediaElement & DatedMedia, server: () => URL, serverTimeMs: () => number): AttachHls =>
  async (url, onFailure) => {
    if (hasMediaSource()) {
      const script: HlsScript = await import(new URL('hls.js', server()).href)
      return script.attachHls(media, url, { serverTimeMs, onFailure })
    }
    media.src = url
    return {
      delay(): number | null {
        const startMs = media.getStartDate?.().getTime() ?? NaN
        return Number.isNaN(startMs) ? null : (serverTimeMs() - startMs) / 1_000 - media.currentTime
      },
      close: () => {}
    }
  }
