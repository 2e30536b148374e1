import * as v from 'valibot'

import type { ListenerCounts, StationState } from '../../model/station/state.ts'
import { type Trigger, triggerNames as knownTriggers } from '../../model/station/triggers.ts'

/*
 * Schemas of live states in Redis. Two releases run side by side during an upgrade, so a new schema takes
 * three releases: the first reads it, the second writes it once no process of the first was seen for five
 * minutes (`src/stores/db/processes.ts`), the third no longer reads the old one.
 */

/** Schemas that this release reads. */
export const readableStateSchemas: readonly number[] = [3]

/** The schema that this release writes if no older release runs. */
export const ownStateSchema = 3

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
  if (!readableStateSchemas.includes(schema) || !isState(value)) return null
  return { ...value, epoch, offset, ...(isListenerCounts(counts) && { listeners: counts }) }
}

/** Checks only what distinguishes counts from damaged data. */
export function isListenerCounts(value: unknown): value is ListenerCounts {
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

/** `revision`: of the facts that the state shows. `schema`: in which the state is written. */
export type StoredPosition = ReturnType<typeof parsePosition>

/** Parses `epoch:offset:revision:schema`; the text is empty if nothing is stored. */
export function parsePosition(text: string) {
  const [epoch = '', offset = '0', revision = '0', schema = '0'] = text.split(':')
  return { epoch, offset: Number(offset), revision: Number(revision), schema: Number(schema) }
}

/** Formats what `parsePosition` parses. */
export const formatPosition = ({ epoch, offset, revision, schema }: StoredPosition): string =>
  `${epoch}:${offset}:${revision}:${schema}`

/** Whether only a newer release can read the state at a position. */
export const isPositionOfNewerRelease = ({ schema }: StoredPosition) =>
  schema > Math.max(...readableStateSchemas)

/** Whether this release can read the state at a position. */
export const isReadablePosition = ({ schema }: StoredPosition) => readableStateSchemas.includes(schema)

/*
 * Messages on the changes channel of a shard, as JSON: `commitStation-10.lua`, `countListeners-10.lua` and
 * `removeStationState` write them. A removal has an empty `position`, the others `epoch:offset:revision:schema`.
 */

/**
 * `removal`: a station was deleted. `state`: a commit. `counts`: new counts of the state with this revision.
 */
export type StationMessage = NonNullable<ReturnType<typeof parseStationMessage>>

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
export function parseStationMessage(text: string) {
  const { success, output } = v.safeParse(messageSchema, text)
  if (!success) return null
  const { stationId, triggers } = output
  if (output.position === '') return { type: 'removal' as const, stationId }
  const position = parsePosition(output.position)
  const common = { stationId, position, triggers: triggers.filter(isKnownTrigger) }
  if (output.state === undefined)
    return isListenerCounts(output.counts)
      ? { type: 'counts' as const, ...common, counts: output.counts }
      : null
  const state = decodeState(output.state, position, output.counts)
  return {
    type: 'state' as const,
    ...common,
    /** Null if it was left out or cannot be read. */
    state: state?.stationId === stationId ? state : null
  }
}
