import type { JsonValue, JsonObject } from '../../src/live/deltas.ts'

/** RFC 7396, section 2, literally: applies a merge patch as a client does. */
export function applyMergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch
  const result: Record<string, JsonValue> = target !== undefined && isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = applyMergePatch(result[name], value)
  }
  return result
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
