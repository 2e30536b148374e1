import { newestRevision, type StationState } from '../station/state.ts'
import { ownSchema, readableSchemas } from './state-schema.ts'

/**
 * Where a station stands, as one text `epoch:offset:revision:schema`: which lifetime of the state, the offset
 * in it, up to which revision it shows the facts in Postgres, and how it is written. The text is empty where
 * there is nothing.
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

/** The position of a state that is written in the way of this release. */
export const positionOf = (state: StationState): string =>
  [state.epoch, state.offset, newestRevision(state), ownSchema].join(':')

/** Whether a newer release wrote what stands at a position, in a way that this one cannot read. */
export const isOfNewerRelease = ({ schema }: StoredPosition) => schema > Math.max(...readableSchemas)

/** Whether this release can read what stands at a position. */
export const isReadable = ({ schema }: StoredPosition) => readableSchemas.includes(schema)
