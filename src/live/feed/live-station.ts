import { createHash } from 'node:crypto'

import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { CachedResponse } from '../../station/document.ts'
import {
  elapsedAt,
  type NowPlayingDocument,
  renderElapsed,
  type NowPlayingVariant,
  renderLine,
  renderNowPlaying
} from '../../station/now-playing.ts'
import type { StationState } from '../../station/state.ts'

/** One state of one station with its rendered documents. */
export type LiveStation = ReturnType<typeof openLiveStation>

/** Each document is rendered when it is first requested; its moving numbers once per second. */
export function openLiveStation(state: StationState, baseUrl: string) {
  const rest = openRendering(state, 'rest', baseUrl)
  const event = openRendering(state, 'event', baseUrl)
  let line: CachedResponse | null = null
  return {
    state,
    /** The document of `GET /api/nowplaying/{id}`, rendered for `nowSeconds`. */
    rest: rest.response,
    /** The document of `GET /api/nowplaying_static/{id}.json`, rendered for `nowSeconds`. */
    event: event.response,
    /** The document of `GET /api/nowplaying_static/{id}.txt`. */
    line: () => (line ??= cacheLine(state)),
    /** The event rendering as text, for frames, rendered for `nowSeconds`. */
    eventText: event.text
  }
}

function cacheLine(state: StationState): CachedResponse {
  const text = renderLine(state)
  return { body: Buffer.from(text), etag: etagOf(text), position: positionOf(state) }
}

const positionOf = ({ epoch, offset }: StationState) => ({ epoch, offset })

function openRendering(state: StationState, rendering: NowPlayingVariant, baseUrl: string) {
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

/** The engine's time in whole Unix seconds. */
export const engineSeconds = () => Math.floor(engineTimeMs() / 1000)

/** The weak entity tag of these texts together. */
export const etagOf = (...texts: readonly string[]) => `W/"${hashOf(...texts)}"`

/** A hash of 16 characters of these texts and their boundaries. */
function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha1')
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text)
  return hash.digest('base64url').slice(0, 16)
}
