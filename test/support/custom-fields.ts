/**
 * Returns the value without `custom_fields` at any depth. Other test files that share the program add and
 * delete custom fields of all songs at any time, so songs of two responses are equal only without them.
 */
export function withoutCustomFields<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) =>
    key === 'custom_fields' ? undefined : each
  )
}
