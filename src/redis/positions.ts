import { newestRevision, type StationState } from '../station/state.ts'
import { ownSchema, readableSchemas } from './state-schema.ts'

/**
 * The position of a stored state, as text `epoch:offset:revision:schema`: its lifetime, its number in it, the
 * revision of the facts that it shows, and the schema it is written in. The text is empty if nothing is
 * stored.
 */
export interface StoredPosition {
  readonly epoch: string
  readonly offset: number
  readonly revision: number
  readonly schema: number
}

export function parsePosition(text: string): StoredPosition {
  const [epoch = '', offset = '0', revision = '0', schema = '0'] = text.split(':')
  return { epoch, offset: Number(offset), revision: Number(revision), schema: Number(schema) }
}

/** The position of a state that is written in the schema of this release. */
export const positionOf = (state: StationState): string =>
  [state.epoch, state.offset, newestRevision(state), ownSchema].join(':')

/** Whether only a newer release can read the state at a position. */
export const isOfNewerRelease = ({ schema }: StoredPosition) => schema > Math.max(...readableSchemas)

/** Whether this release can read the state at a position. */
export const isReadable = ({ schema }: StoredPosition) => readableSchemas.includes(schema)
