import { renderMoving, renderNowPlaying } from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'
import type { NowPlaying } from './event.ts'

/** The now-playing object as of a fact, in the rendering of events; the same at every attempt. */
export function nowPlayingAt(state: StationState, happenedAtMs: number, baseUrl: string): NowPlaying {
  const document = renderNowPlaying(state, 'event', baseUrl)
  const moving = renderMoving(document, Math.floor(happenedAtMs / 1000))
  return JSON.parse(document.head + moving + document.tail)
}
