import * as v from 'valibot'

import { changeStation } from '../../engine/change-station.ts'
import { applyMeasuredCues } from '../../engine/queue/media-changes.ts'
import { validatedField, textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator, changesValidator } from '../../model/fields/validators.ts'
import { parseBody } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { extraMetadataFields, toCuePoints } from '../library/extra-metadata.ts'

const { amplify, cross_start_next: start_next, ...cues } = extraMetadataFields

/** Playouts send the gain as `-0.07 dB`. */
const decibels = v.pipe(
  v.unknown(),
  v.transform(value => (typeof value === 'string' ? value.replace(/^\+| *dB$/gi, '') : value)),
  amplify.input
)

const measured = { ...cues, start_next, amplify: { ...amplify, input: decibels } }

const fields = {
  cache_key: textField({
    min: 1,
    max: 200,
    about: 'The azuracast_cache_key from nextsong.',
    example: '4f0c1e5b7a2d9c3e6f8a1b0d-1780000000000'
  }),
  data: validatedField(changesValidator(measured), {
    schema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(Object.entries(measured).map(([name, { schema }]) => [name, schema])),
        amplify: { type: ['string', 'number', 'null'], description: 'The gain: -0.07 dB, or a number.' }
      }
    },
    about: 'What the playout measured. Values that are already known, or do not fit them, are not stored.',
    example: { cue_in: 1.2, cue_out: 180.1, fade_in: 0.2, fade_out: 6, amplify: '-0.07 dB' }
  })
}

const validator = bodyValidator(fields)

/** Stores cue points that a playout computed, so that they are sent with the song the next time. */
export const autocueRoute = apiRoute(
  'POST',
  '/api/internal/:station_id/liquidsoap/savecache',
  'playout key',
  {
    id: 'playoutSavecache',
    tag: 'Playout',
    summary: 'Store the cue points that a playout has computed',
    body: bodySchema(fields),
    response: { type: 'boolean', const: true },
    async handle(request, services) {
      const { cache_key: cacheKey, data } = parseBody(validator, request.body)
      const { start_next: startNext = null, ...others } = data
      const found = toCuePoints({ ...others, cross_start_next: startNext })
      await changeStation(services, getRequestStation(request).id, change =>
        applyMeasuredCues(change, cacheKey, found)
      )
      return jsonReply(true)
    }
  }
)
