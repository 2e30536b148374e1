import * as v from 'valibot'

import { formatCheckMessage } from '../../model/fields/field.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import { findWaveform, replaceWaveform } from '../../stores/db/library/waveforms.ts'
import { actionRoute } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parseBody, parseListElements } from '../core/parse.ts'
import { actionReply, getRequestStation } from '../core/route.ts'
import { parseMediaIdentifier } from './media-identifier.ts'
import { readSongNames } from './song-names.ts'

const maxPixels = 2_048
const count = (max: number) =>
  v.pipe(
    v.number(formatCheckMessage('invalid_type', 'must be a number.')),
    v.integer(formatCheckMessage('invalid_type', 'must be a whole number.')),
    v.minValue(1, formatCheckMessage('out_of_range', 'must be at least 1.')),
    v.maxValue(max, formatCheckMessage('out_of_range', `must be at most ${max}.`))
  )
const sample = v.pipe(
  v.number(formatCheckMessage('invalid_type', 'must be a number.')),
  v.minValue(-128, formatCheckMessage('out_of_range', 'must be at least -128.')),
  v.maxValue(127, formatCheckMessage('out_of_range', 'must be at most 127.'))
)

const body = v.object({
  channels: v.nullish(v.literal(1, formatCheckMessage('out_of_range', 'must be 1.')), 1),
  bits: v.nullish(v.literal(8, formatCheckMessage('out_of_range', 'must be 8.')), 8),
  sample_rate: count(1_000_000),
  samples_per_pixel: count(1_000_000_000),
  data: v.pipe(
    v.array(v.unknown(), formatCheckMessage('invalid_type', 'must be a list.')),
    v.minLength(2, formatCheckMessage('too_short', 'must have at least 2 numbers.')),
    v.maxLength(2 * maxPixels, formatCheckMessage('too_long', `must have at most ${2 * maxPixels} numbers.`))
  )
})

/** Samples from -1 to 1, as AzuraCast's pages send them, or from -128 to 127. */
function toPeaks(data: readonly number[]): Uint8Array {
  const scale = data.every(each => Math.abs(each) <= 1) ? 127 : 1
  return new Uint8Array(Int8Array.from(data, each => Math.round(each * scale)).buffer)
}

export const waveformUploadRoute = actionRoute(
  'POST',
  '/api/station/:station_id/waveform/:media',
  'manage station media',
  {
    id: 'setWaveform',
    tag: 'Files',
    summary: 'Store the waveform of a song that a client has made, in the format of audiowaveform',
    body: {
      type: 'object',
      properties: {
        version: { type: 'integer' },
        channels: { type: 'integer', const: 1 },
        sample_rate: { type: 'integer', minimum: 1 },
        samples_per_pixel: { type: 'integer', minimum: 1 },
        bits: { type: 'integer', const: 8 },
        length: { type: 'integer' },
        data: {
          type: 'array',
          items: { type: 'number', minimum: -128, maximum: 127 },
          maxItems: 2 * maxPixels,
          description: 'The least and the greatest sample of each pixel, from -128 to 127 or from -1 to 1.'
        }
      },
      required: ['sample_rate', 'samples_per_pixel', 'data']
    },
    async prepare(request, { sql }) {
      const nowMs = engineTimeMs()
      const name = parseMediaIdentifier(request.params['media'])
      const waveform = parseBody(body, request.body)
      const data = await parseListElements(sample, waveform.data, 'data')
      if (data.length % 2 !== 0)
        refuseField('data', 'invalid_format', 'must have two numbers for each pixel.')
      const song = await findWaveform(sql, getRequestStation(request).id, { ...name, nowMs })
      if (song === null) throw new ApiError('not-found')
      const { sample_rate, samples_per_pixel } = waveform
      const { mediaId } = song
      const stored = { sample_rate, samples_per_pixel, peaks: toPeaks(data) }
      return async tx => {
        await replaceWaveform(tx, mediaId, stored, nowMs)
        const names = await readSongNames(tx, tx`select id, id from media where id = ${mediaId}`)
        return {
          audit: [
            {
              record: 'StationFile',
              id: mediaId,
              name: names.get(mediaId),
              changes: changedWithoutValues('waveform')
            }
          ],
          reply: actionReply('Record updated successfully.')
        }
      }
    }
  }
)
