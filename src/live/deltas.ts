import type { LiveStation } from './feed/live-station.ts'

/** Documents in the event rendering, without the two numbers that change with time. */
const resting = new WeakMap<LiveStation, JsonObject>()

/** Returns the JSON Merge Patch between the event renderings of two states; null if none can express it. */
export function renderMergePatch(from: LiveStation, to: LiveStation, nowSeconds: number): string | null {
  const document: JsonObject = JSON.parse(to.eventText(nowSeconds))
  const patch = computeMergePatch(restingDocument(from, nowSeconds), document)
  return patch === inexpressiblePatch ? null : JSON.stringify(patch)
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

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [name: string]: JsonValue
}

/** A change that no patch can express: a member cannot be set to null. */
export const inexpressiblePatch = Symbol('inexpressible')

/**
 * Returns the JSON Merge Patch (RFC 7396) from `from` to `to`; `{}` if they are equal. `inexpressiblePatch` if a
 * member would become null, or an object that contains a null would be added; existing nulls and those in
 * arrays are allowed.
 */
export function computeMergePatch(from: JsonObject, to: JsonObject): JsonObject | typeof inexpressiblePatch {
  const patch: Record<string, JsonValue> = {}
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch[name] = null
  for (const [name, value] of Object.entries(to)) {
    const before = Object.hasOwn(from, name) ? from[name] : undefined
    if (before !== undefined && isObject(before) && isObject(value)) {
      const inner = computeMergePatch(before, value)
      if (inner === inexpressiblePatch) return inexpressiblePatch
      if (Object.keys(inner).length > 0) patch[name] = inner
    } else if (before === undefined || !isEqual(before, value)) {
      if (hasNull(value)) return inexpressiblePatch
      patch[name] = value
    }
  }
  return patch
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a patch with this value would lose a null: at the top or in an object, not in an array. */
function hasNull(value: JsonValue): boolean {
  return value === null || (isObject(value) && Object.values(value).some(hasNull))
}

const isEqual = (left: JsonValue, right: JsonValue) =>
  left === right || JSON.stringify(left) === JSON.stringify(right)
