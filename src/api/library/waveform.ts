import { isWebUrl } from '../../platform/outbound/networks.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { findWaveform, requestWaveform } from '../../stores/db/library/waveforms.ts'
import { actionReply, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { parseMediaIdentifier } from './media-identifier.ts'

const integer = { type: 'integer' } as const
const retryAfterSeconds = 1

/** In the format of audiowaveform, one channel of 8 bits. */
const response = {
  type: 'object',
  properties: {
    version: { ...integer, const: 2 },
    channels: { ...integer, const: 1 },
    sample_rate: { ...integer, description: 'Samples per second.' },
    samples_per_pixel: integer,
    bits: { ...integer, const: 8 },
    length: { ...integer, maximum: 2_048, description: 'The number of pixels.' },
    data: {
      type: 'array',
      items: { ...integer, minimum: -128, maximum: 127 },
      description: 'The least and the greatest sample of each pixel.'
    }
  },
  required: ['version', 'channels', 'sample_rate', 'samples_per_pixel', 'bits', 'length', 'data']
} as const

/** The waveform of a song: `<id>.json` or `<unique id>.json`, as clients of AzuraCast request it. */
export const waveformRoute = apiRoute(
  'GET',
  '/api/station/:station_id/waveform/:media',
  'view station management',
  {
    id: 'getWaveform',
    tag: 'Files',
    summary: 'The waveform of a song, made at the first request: 202 with Retry-After until it is there',
    response,
    accepted: 'The waveform is being made.',
    async handle(request, { sql }) {
      const nowMs = engineTimeMs()
      const song = { ...parseMediaIdentifier(request.params['media']), nowMs }
      const found = await findWaveform(sql, getRequestStation(request).id, song)
      if (found === null) throw new ApiError('not-found')
      if (isWebUrl(found.path)) throw new ApiError('not-found', 'A URL has no waveform.')
      if (found.failure !== '') throw new ApiError('not-found', `The file has no waveform: ${found.failure}.`)
      if (found.peaks.length === 0) {
        if (!found.isRequested) await requestWaveform(sql, found.mediaId, nowMs)
        const headers = { 'Retry-After': String(retryAfterSeconds), 'Cache-Control': 'no-store' }
        return { ...actionReply('The waveform is being made.'), status: 202, headers }
      }
      const { sampleRate, samplesPerPixel, peaks } = found
      const data = [...new Int8Array(peaks)]
      return jsonReply({
        version: 2,
        channels: 1,
        sample_rate: sampleRate,
        samples_per_pixel: samplesPerPixel,
        bits: 8,
        length: data.length / 2,
        data
      })
    }
  }
)
