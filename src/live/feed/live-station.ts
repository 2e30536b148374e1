import type { CachedResponse } from '../../station/document.ts'
import {
  elapsedAt,
  type NowPlayingDocument,
  renderLine,
  renderMoving,
  renderNowPlaying,
  type Rendering
} from '../../station/now-playing.ts'
import type { StationState } from '../../station/state.ts'
import { hashOf, tagOf } from '../entity-tags.ts'

/**
 * One state of one station with its rendered documents. Each is rendered when it is first requested; its
 * moving numbers once per second.
 */
export interface LiveStation {
  readonly state: StationState
  /** The document of `GET /api/nowplaying/{id}`, true at `nowSeconds`. */
  readonly rest: (nowSeconds: number) => CachedResponse
  /** The document of `GET /api/nowplaying_static/{id}.json`, true at `nowSeconds`. */
  readonly event: (nowSeconds: number) => CachedResponse
  /** The document of `GET /api/nowplaying_static/{id}.txt`. */
  readonly line: () => CachedResponse
  /** The event rendering as text, for frames, true at `nowSeconds`. */
  readonly eventText: (nowSeconds: number) => string
}

export function openLiveStation(state: StationState, baseUrl: string): LiveStation {
  const rest = openRendering(state, 'rest', baseUrl)
  const event = openRendering(state, 'event', baseUrl)
  let line: CachedResponse | null = null
  return {
    state,
    rest: rest.document,
    event: event.document,
    line: () => (line ??= holdLine(state)),
    eventText: event.text
  }
}

function holdLine(state: StationState): CachedResponse {
  const text = renderLine(state)
  return { body: Buffer.from(text), etag: tagOf(text), position: positionOf(state) }
}

const positionOf = ({ epoch, offset }: StationState) => ({ epoch, offset })

function openRendering(state: StationState, rendering: Rendering, baseUrl: string) {
  let still: NowPlayingDocument | null = null
  let hash: string | null = null
  let second = -1
  let elapsed = -1
  let cachedText: string | null = null
  let held: CachedResponse | null = null

  /** Goes to this second. What was made stays where nothing moved. */
  const turnTo = (nowSeconds: number): NowPlayingDocument => {
    still ??= renderNowPlaying(state, rendering, baseUrl)
    if (second === nowSeconds) return still
    second = nowSeconds
    const now = elapsedAt(still, nowSeconds)
    if (now === elapsed) return still
    elapsed = now
    cachedText = null
    held = null
    return still
  }
  const text = (nowSeconds: number): string => {
    const document = turnTo(nowSeconds)
    return (cachedText ??= document.head + renderMoving(document, nowSeconds) + document.tail)
  }
  const document = (nowSeconds: number): CachedResponse => {
    const { head, tail } = turnTo(nowSeconds)
    if (held !== null) return held
    hash ??= hashOf(head, tail)
    const body = Buffer.from(text(nowSeconds))
    held = { body, etag: `W/"${hash}-${elapsed}"`, position: positionOf(state) }
    return held
  }
  return { text, document }
}
