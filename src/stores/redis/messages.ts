import * as v from 'valibot'

import { type Trigger, triggers as knownTriggers } from '../../model/station/triggers.ts'
import { parsePosition } from './positions.ts'
import { areCounts, decodeState } from './state-schema.ts'

/*
 * Messages on the changes channel of a shard, as JSON: `commitStation-10.lua`, `countListeners-10.lua` and
 * `removeState` write them. A removal has an empty `position`, the others `epoch:offset:revision:schema`.
 */

/**
 * `removal`: a station was deleted. `state`: a commit. `counts`: new counts of the state with this revision.
 */
export type StationMessage = NonNullable<ReturnType<typeof parseMessage>>

const messageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    stationId: v.pipe(v.number(), v.safeInteger()),
    position: v.string(),
    triggers: v.array(v.string()),
    counts: v.optional(v.unknown()),
    state: v.optional(v.unknown())
  })
)

const isKnownTrigger = (name: string): name is Trigger => (knownTriggers as readonly string[]).includes(name)

/** Parses a message; null if it is invalid. Unknown triggers are left out. */
export function parseMessage(text: string) {
  const { success, output } = v.safeParse(messageSchema, text)
  if (!success) return null
  const { stationId, triggers } = output
  if (output.position === '') return { type: 'removal' as const, stationId }
  const position = parsePosition(output.position)
  const common = { stationId, position, triggers: triggers.filter(isKnownTrigger) }
  if (output.state === undefined)
    return areCounts(output.counts) ? { type: 'counts' as const, ...common, counts: output.counts } : null
  const state = decodeState(output.state, position, output.counts)
  return {
    type: 'state' as const,
    ...common,
    /** Null if it was left out or cannot be read. */
    state: state?.stationId === stationId ? state : null
  }
}
