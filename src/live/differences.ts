import type { LiveStation } from './live-station.ts'
import { diff, inexpressible, type JsonObject } from './merge-patch.ts'

/** Documents in the event rendering, without the two numbers that move by themselves. */
const resting = new WeakMap<LiveStation, JsonObject>()

/**
 * The Merge Patch, as JSON, that turns the event rendering of one state, of whatever second, into that of another
 * at `nowSeconds`. Null where no patch can say it.
 */
export function renderPatch(from: LiveStation, to: LiveStation, nowSeconds: number): string | null {
  const document: JsonObject = JSON.parse(to.eventText(nowSeconds))
  const patch = diff(restingDocument(from, nowSeconds), document)
  return patch === inexpressible ? null : JSON.stringify(patch)
}

function restingDocument(station: LiveStation, nowSeconds: number): JsonObject {
  const known = resting.get(station)
  if (known !== undefined) return known
  const { now_playing: playing, ...document } = JSON.parse(station.eventText(nowSeconds))
  const { elapsed: _elapsed, remaining: _remaining, ...play } = playing
  const found = { ...document, now_playing: play }
  resting.set(station, found)
  return found
}
