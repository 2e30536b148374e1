import type { LiveStation } from './feed/live-station.ts'

/** Documents in the event rendering, without the two numbers that move by themselves. */
const resting = new WeakMap<LiveStation, JsonObject>()

/**
 * The Merge Patch, as JSON, that turns the event rendering of one state, of whatever second, into that of
 * another at `nowSeconds`. Null where no patch can say it.
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

/** JSON Merge Patches (RFC 7396) between two documents. Pure. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** What a patch cannot say: it has no way to set a member to null. */
export const inexpressible = Symbol('inexpressible')

/**
 * The patch that makes `to` out of `from`: only what differs, `{}` if nothing does. `inexpressible` where a
 * member would have to become null, or an object with a null in it would have to be added; nulls that are
 * already there, and those inside arrays, are no obstacle.
 */
export function diff(from: JsonObject, to: JsonObject): JsonObject | typeof inexpressible {
  const patch: Record<string, Json> = {}
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch[name] = null
  for (const [name, value] of Object.entries(to)) {
    const before = Object.hasOwn(from, name) ? from[name] : undefined
    if (before !== undefined && isObject(before) && isObject(value)) {
      const inner = diff(before, value)
      if (inner === inexpressible) return inexpressible
      if (Object.keys(inner).length > 0) patch[name] = inner
    } else if (before === undefined || !isEqual(before, value)) {
      if (hasNull(value)) return inexpressible
      patch[name] = value
    }
  }
  return patch
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether a patch with this value would lose something: a null at the top or in an object, but not in an
 * array.
 */
function hasNull(value: Json): boolean {
  return value === null || (isObject(value) && Object.values(value).some(hasNull))
}

function isEqual(left: Json, right: Json): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}
