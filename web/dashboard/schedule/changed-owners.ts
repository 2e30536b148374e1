import { isSame } from '../forms/form-edits.ts'

/** The edited owners whose stored items are not those with which the edit began, `starts`. */
export const selectChanged = <Owner extends { readonly key: string; readonly items: unknown }>(
  owners: readonly Owner[],
  edits: ReadonlyMap<string, unknown>,
  starts: ReadonlyMap<string, unknown>
): Owner[] => owners.filter(({ key, items }) => edits.has(key) && !isSame(items, starts.get(key)))
