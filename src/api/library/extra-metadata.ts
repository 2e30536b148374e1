import * as v from 'valibot'

import { validatedField, decimalField, type Field, type ValuesOf } from '../../model/fields/field.ts'
import { changesValidator } from '../../model/fields/validators.ts'
import {
  cuePointNames,
  type CuePoints,
  findCueProblems,
  maxAmplifyDb,
  roundDecibels
} from '../../model/songs/cue-points.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { cueColumns, toCueColumns } from '../../stores/db/library/cue-columns.ts'
import type { Tx } from '../../stores/db/sql.ts'

const roundSeconds = (value: number) => Math.round(value * 1_000) / 1_000
const seconds = (about: string) => nullable(decimalField({ min: 0, max: 2_147_483, about }), roundSeconds)

function nullable(field: Field<number>, round: (value: number) => number): Field<number | null> {
  const input = v.pipe(field.input, v.transform(round))
  return { ...field, input, fallback: null, schema: { ...field.schema, type: ['number', 'null'] } }
}

/** Cue points, fades and gain of a song, as clients of AzuraCast know them. Null: unknown. */
export const extraMetadataFields = {
  amplify: nullable(
    decimalField({ min: -maxAmplifyDb, max: maxAmplifyDb, about: 'The gain in decibels.' }),
    roundDecibels
  ),
  cross_start_next: seconds('When the next song starts, in seconds of the file.'),
  fade_in: seconds('The length of the fade in, in seconds.'),
  fade_out: seconds('The length of the fade out, in seconds.'),
  cue_in: seconds('Where the song starts, in seconds of the file.'),
  cue_out: seconds('Where the song ends, in seconds of the file.')
}

type ExtraMetadata = ValuesOf<typeof extraMetadataFields>
type ExtraMetadataName = keyof ExtraMetadata

/** The name of each cue in the API, in the order of the record. */
const names = {
  amplifyDb: 'amplify',
  startNextMs: 'cross_start_next',
  fadeInMs: 'fade_in',
  fadeOutMs: 'fade_out',
  cueInMs: 'cue_in',
  cueOutMs: 'cue_out'
} as const satisfies Record<keyof CuePoints, ExtraMetadataName>

const properties = Object.fromEntries(
  Object.entries(extraMetadataFields).map(([name, { schema }]) => [name, schema])
)

export const extraMetadataField = validatedField<Partial<ExtraMetadata>>(
  changesValidator(extraMetadataFields),
  {
    fallback: {},
    schema: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false
    },
    accepts: { type: 'object', properties },
    about: 'Cue points, fades and gain. Absent values are kept; null clears a value.',
    example: { amplify: -3.2, cross_start_next: 290, fade_in: null, fade_out: 2, cue_in: 0.4, cue_out: 295.5 }
  }
)

const toSeconds = (ms: number | null) => (ms === null ? null : ms / 1_000)
const toMs = (value: number | null = null) => (value === null ? null : Math.round(value * 1_000))

/** Renders cue points as they are in the API. */
export const toExtraMetadata = (cues: CuePoints): ExtraMetadata => ({
  amplify: cues.amplifyDb,
  cross_start_next: toSeconds(cues.startNextMs),
  fade_in: toSeconds(cues.fadeInMs),
  fade_out: toSeconds(cues.fadeOutMs),
  cue_in: toSeconds(cues.cueInMs),
  cue_out: toSeconds(cues.cueOutMs)
})

/** The cue points of validated values; absent ones are null. */
export const toCuePoints = (values: Partial<ExtraMetadata>): CuePoints => ({
  amplifyDb: values.amplify ?? null,
  startNextMs: toMs(values.cross_start_next),
  fadeInMs: toMs(values.fade_in),
  fadeOutMs: toMs(values.fade_out),
  cueInMs: toMs(values.cue_in),
  cueOutMs: toMs(values.cue_out)
})

/** Returns a problem for each value that does not fit the duration of the song (0: unknown) or the others. */
export function findExtraMetadataProblems(values: Partial<ExtraMetadata>, durationMs: number): FieldError[] {
  return findCueProblems(toCuePoints(values), durationMs).map(({ name, sentence }) =>
    fieldError(`extra_metadata.${names[name]}`, 'out_of_range', sentence)
  )
}

/** Returns the cues whose values differ. */
export function findChangedCues(
  before: Partial<ExtraMetadata>,
  after: Partial<ExtraMetadata>
): (keyof CuePoints)[] {
  const [old, fresh] = [toCuePoints(before), toCuePoints(after)]
  return cuePointNames.filter(name => old[name] !== fresh[name])
}

/** Clears all cues of a song, so that they are read from its file again. */
export const clearCuePoints = (tx: Tx, mediaId: number): Promise<void> =>
  updateCuePoints(tx, mediaId, {}, cuePointNames)

/** Writes cues of a song that an operator changed: those that are set are kept by imports. */
export async function updateCuePoints(
  tx: Tx,
  mediaId: number,
  values: Partial<ExtraMetadata>,
  changed: readonly (keyof CuePoints)[]
): Promise<void> {
  const cues = toCuePoints(values)
  const columns = changed.map(name => cueColumns[name])
  const set = changed.filter(name => cues[name] !== null).map(name => cueColumns[name])
  await tx`
    update media set ${tx(toCueColumns(cues))},
      operator_cues = array(
        select unnest(operator_cues) except select unnest(${columns}::text[])
        union select unnest(${set}::text[]) order by 1)
    where id = ${mediaId}`
}
