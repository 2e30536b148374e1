/** JSON Merge Patch, RFC 7396. Gives a new value; what the patch does not name is shared with the old one. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), value))
  return Object.fromEntries(result)
}

/** Whether a value is an object with members: no array, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
