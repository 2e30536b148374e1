import type { StationState } from '../station/state.ts'

/*
 * How a live state is written in Redis. A number stands for each way of writing.
 *
 * Two releases run side by side during an upgrade, so a new way of writing takes three releases: the first can read it, the
 * second writes it once no process of the first has been seen for five minutes, and the third no longer reads the old one.
 * `src/db/processes.ts` knows which processes there are.
 */

/** What this release can read. */
export const readableSchemas: readonly number[] = [3]

/** What this release writes when no process runs that writes an older one. */
export const ownSchema = 3

/** What is stored of a state. Where it stands, its epoch and offset, is stored beside it. */
export type StoredState = Omit<StationState, 'epoch' | 'offset'>

/** Writes a state as text. */
export function encodeState(
  { epoch: _epoch, offset: _offset, ...state }: StationState,
  _schema: number
): string {
  return JSON.stringify(state)
}

/** Reads what `encodeState` wrote. Null: this release cannot read it, or it is damaged. */
export function decodeState(value: unknown, schema: number): StoredState | null {
  return readableSchemas.includes(schema) && isState(value) ? value : null
}

/** Checked as far as necessary: whoever wrote it under this schema wrote all of it. */
function isState(value: unknown): value is StoredState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'revisions' in value &&
    typeof value.revisions === 'object' &&
    'profile' in value &&
    typeof value.profile === 'object'
  )
}
