import * as v from 'valibot'

import type { StationState } from '../station/state.ts'
import { type Trigger, triggers as knownTriggers } from '../station/triggers.ts'
import { parsePosition, type StoredPosition } from './positions.ts'
import { decodeState } from './state-schema.ts'

/*
 * Messages on the changes channel of a shard, as JSON: `commitStation-5.lua` writes `StateMessage`,
 * `forgetStation-5.lua` publishes the text of `renderRemoval`. A removal has an empty `position`, a state
 * `epoch:offset:revision:schema`.
 */

/**
 * A commit: the new position of a station, the triggers that fired, and the state, so that servers need not
 * read it.
 */
export interface StateMessage {
  readonly type: 'state'
  readonly stationId: number
  readonly position: StoredPosition
  readonly triggers: readonly Trigger[]
  /** Null if it was left out or cannot be read. */
  readonly state: StationState | null
}

/** A station was deleted. */
export interface RemovalMessage {
  readonly type: 'removal'
  readonly stationId: number
}

export type StationMessage = StateMessage | RemovalMessage

const messageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    stationId: v.pipe(v.number(), v.safeInteger()),
    position: v.string(),
    triggers: v.array(v.string()),
    state: v.optional(v.unknown())
  })
)

const isKnownTrigger = (name: string): name is Trigger => (knownTriggers as readonly string[]).includes(name)

/** Parses a message; null if it is invalid. Unknown triggers are left out. */
export function parseMessage(text: string): StationMessage | null {
  const { success, output } = v.safeParse(messageSchema, text)
  if (!success) return null
  const { stationId, triggers } = output
  if (output.position === '') return { type: 'removal', stationId }
  const position = parsePosition(output.position)
  const state = decodeState(output.state, position)
  return {
    type: 'state',
    stationId,
    position,
    triggers: triggers.filter(isKnownTrigger),
    state: state?.stationId === stationId ? state : null
  }
}

export const renderRemoval = (stationId: number): string =>
  JSON.stringify({ stationId, position: '', triggers: [] })
