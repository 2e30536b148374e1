import type { CachedResponse } from '../../station/document.ts'
import {
  elapsedAt,
  type NowPlayingDocument,
  renderElapsed,
  type Rendering,
  renderLine,
  renderNowPlaying
} from '../../station/now-playing.ts'
import type { StationState } from '../../station/state.ts'
import { hashOf, tagOf } from '../entity-tags.ts'

/**
 * One state of one station with its rendered documents. Each is rendered when it is first requested; its
 * moving numbers once per second.
 */
export interface LiveStation {
  readonly state: StationState
  /** The document of `GET /api/nowplaying/{id}`, rendered for `nowSeconds`. */
  readonly rest: (nowSeconds: number) => CachedResponse
  /** The document of `GET /api/nowplaying_static/{id}.json`, rendered for `nowSeconds`. */
  readonly event: (nowSeconds: number) => CachedResponse
  /** The document of `GET /api/nowplaying_static/{id}.txt`. */
  readonly line: () => CachedResponse
  /** The event rendering as text, for frames, rendered for `nowSeconds`. */
  readonly eventText: (nowSeconds: number) => string
}

export function openLiveStation(state: StationState, baseUrl: string): LiveStation {
  const rest = openRendering(state, 'rest', baseUrl)
  const event = openRendering(state, 'event', baseUrl)
  let line: CachedResponse | null = null
  return {
    state,
    rest: rest.response,
    event: event.response,
    line: () => (line ??= cacheLine(state)),
    eventText: event.text
  }
}

function cacheLine(state: StationState): CachedResponse {
  const text = renderLine(state)
  return { body: Buffer.from(text), etag: tagOf(text), position: positionOf(state) }
}

const positionOf = ({ epoch, offset }: StationState) => ({ epoch, offset })

function openRendering(state: StationState, rendering: Rendering, baseUrl: string) {
  let document: NowPlayingDocument | null = null
  let hash: string | null = null
  let second = -1
  let elapsed = -1
  let cachedText: string | null = null
  let cached: CachedResponse | null = null

  /** Renders for this second. Cached renderings stay valid while `elapsed` is unchanged. */
  const renderAt = (nowSeconds: number): NowPlayingDocument => {
    document ??= renderNowPlaying(state, rendering, baseUrl)
    if (second === nowSeconds) return document
    second = nowSeconds
    const now = elapsedAt(document, nowSeconds)
    if (now === elapsed) return document
    elapsed = now
    cachedText = null
    cached = null
    return document
  }
  const text = (nowSeconds: number): string => {
    const at = renderAt(nowSeconds)
    return (cachedText ??= at.head + renderElapsed(at, nowSeconds) + at.tail)
  }
  const response = (nowSeconds: number): CachedResponse => {
    const { head, tail } = renderAt(nowSeconds)
    if (cached !== null) return cached
    hash ??= hashOf(head, tail)
    const body = Buffer.from(text(nowSeconds))
    cached = { body, etag: `W/"${hash}-${elapsed}"`, position: positionOf(state) }
    return cached
  }
  return { text, response }
}
