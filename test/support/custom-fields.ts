/**
 * Returns the value without `custom_fields` at any depth. Other files of the shared program add and delete
 * custom fields of all songs at any moment, so songs of two responses are only equal without them.
 */
export function withoutCustomFields<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) =>
    key === 'custom_fields' ? undefined : each
  )
}
