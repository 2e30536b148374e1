/** Values that are invalid for a type, whatever the field. */

export const notText: readonly unknown[] = [{ a: 1 }, 5, true, ['x']]
/** A whole number may also be sent as a string of digits. */
export const notWhole: readonly unknown[] = [{ a: 1 }, 'abc', 1.5, '1.5', true, [1], 1e15, -1e15]
/** A flag may also be sent as 0, 1, "true" or "false". */
export const notFlag: readonly unknown[] = [{ a: 1 }, 'maybe', 2, [true]]
export const notWord: readonly unknown[] = [...notText, 'nonsense']
export const notListOfText: readonly unknown[] = [5, 'abc', true, [5], [{ a: 1 }]]
/** Elements `{key, value}`, or a plain object of such pairs. */
export const notNamedValues: readonly unknown[] = [
  5,
  'abc',
  true,
  [5],
  ['x'],
  [{ key: 5, value: 'x' }],
  [{ key: 'x', value: { a: 1 } }]
]
