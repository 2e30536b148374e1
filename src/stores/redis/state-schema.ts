import type { ListenerCounts, StationState } from '../../model/station/state.ts'

/*
 * Schemas of live states in Redis. Two releases run side by side during an upgrade, so a new schema takes
 * three releases: the first reads it, the second writes it once no process of the first was seen for five
 * minutes (`src/stores/db/processes.ts`), the third no longer reads the old one.
 */

/** Schemas that this release reads. */
export const readableSchemas: readonly number[] = [3]

/** The schema that this release writes if no older release runs. */
export const ownSchema = 3

/** Encodes a state in a schema (there is one now) without epoch and offset, which are stored beside it. */
export function encodeState(
  { epoch: _epoch, offset: _offset, ...state }: StationState,
  _schema: number
): string {
  return JSON.stringify(state)
}

/**
 * Decodes what `encodeState` made, with its position and the newest counts, which are stored beside it; without
 * them, with its own. Null if it is damaged or of an unreadable schema.
 */
export function decodeState(
  value: unknown,
  { schema, epoch, offset }: Pick<StationState, 'epoch' | 'offset'> & { readonly schema: number },
  counts: unknown
): StationState | null {
  if (!readableSchemas.includes(schema) || !isState(value)) return null
  return { ...value, epoch, offset, ...(areCounts(counts) && { listeners: counts }) }
}

/** Checks only what distinguishes counts from damaged data. */
export function areCounts(value: unknown): value is ListenerCounts {
  return (
    typeof value === 'object' && value !== null && 'total' in value && 'mounts' in value && 'remotes' in value
  )
}

/** Checks only what distinguishes a state from damaged data. */
function isState(value: unknown): value is Omit<StationState, 'epoch' | 'offset'> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'revisions' in value &&
    typeof value.revisions === 'object' &&
    'profile' in value &&
    typeof value.profile === 'object'
  )
}
