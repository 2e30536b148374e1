import {
  type NowPlayingDocument,
  renderMoving,
  renderNowPlaying,
  type Rendering
} from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'

/**
 * One version of one station, with its bytes. Each rendering is made when first asked for, its moving numbers once
 * per second; after that an answer is memory that is already there.
 */
export interface LiveStation {
  readonly state: StationState
  /** The document of `GET /api/nowplaying/{id}`, true at `nowSeconds`. */
  readonly restBytes: (nowSeconds: number) => Buffer
  /** The event rendering as text, for frames, true at `nowSeconds`. */
  readonly eventText: (nowSeconds: number) => string
}

export function openLiveStation(state: StationState, baseUrl: string): LiveStation {
  const rest = openRendering(state, 'rest', baseUrl)
  const event = openRendering(state, 'event', baseUrl)
  return { state, restBytes: rest.bytes, eventText: event.text }
}

function openRendering(state: StationState, rendering: Rendering, baseUrl: string) {
  let document: NowPlayingDocument | null = null
  let second = -1
  let cachedText = ''
  let cachedBytes: Buffer | null = null

  const text = (nowSeconds: number): string => {
    if (second === nowSeconds) return cachedText
    document ??= renderNowPlaying(state, rendering, baseUrl)
    cachedText = document.head + renderMoving(document, nowSeconds) + document.tail
    cachedBytes = null
    second = nowSeconds
    return cachedText
  }
  const bytes = (nowSeconds: number): Buffer => {
    if (second === nowSeconds && cachedBytes !== null) return cachedBytes
    const fresh = text(nowSeconds)
    cachedBytes = Buffer.from(fresh)
    return cachedBytes
  }
  return { text, bytes }
}
