import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseCueTags } from '../../../../src/library/media/cue-tags.ts'
import { collectTagTexts } from '../../../../src/library/media/tags/named-tags.ts'
import { findCueProblems, noCuePoints } from '../../../../src/model/songs/cue-points.ts'
import { anyText } from '../../../support/any-text.ts'

const minute = 60_000

/** The cue points in Vorbis comments. */
function read(tags: Record<string, string>, durationMs = minute) {
  const list = Object.entries(tags).map(([id, text]) => ({ id, text }))
  return parseCueTags(collectTagTexts({ tags: list }), durationMs)
}

test('the tags of Liquidsoap are read in seconds', () => {
  expect(
    read({
      LIQ_CUE_IN: '0.5',
      liq_cue_out: '58.25',
      liq_cross_start_next: '55',
      liq_fade_in: '0.0',
      liq_fade_out: '2.0004',
      liq_amplify: '-3.204 dB'
    })
  ).toEqual({
    cueInMs: 500,
    cueOutMs: 58_250,
    startNextMs: 55_000,
    fadeInMs: 0,
    fadeOutMs: 2_000,
    amplifyDb: -3.2
  })
})

test('the names of a tag in ID3, MP4 and APE are the same', () => {
  for (const id of ['TXXX:liq_cue_in', '----:com.apple.iTunes:LIQ_CUE_IN', 'Liq_Cue_In'])
    expect(read({ [id]: '1.5' })).toEqual({ ...noCuePoints, cueInMs: 1_500 })
})

test('a crossfade duration is the time before the end when the next song starts', () => {
  expect(read({ liq_cross_duration: '4' }).startNextMs).toBe(56_000)
  expect(read({ liq_cross_duration: '4', liq_cue_out: '50' }).startNextMs).toBe(46_000)
  expect(read({ liq_cross_duration: '4', liq_cross_start_next: '50' }).startNextMs).toBe(50_000)
})

describe('a gain is read from', () => {
  test.for([
    ['ReplayGain', { REPLAYGAIN_TRACK_GAIN: '-7.54 dB' }, -7.54],
    ['ReplayGain without a blank', { replaygain_track_gain: '+2.1dB' }, 2.1],
    ['ReplayGain without unit', { REPLAYGAIN_TRACK_GAIN: '-7.54' }, -7.54],
    ['ReplayGain with a decimal comma', { REPLAYGAIN_TRACK_GAIN: '-7,54 dB' }, -7.54],
    ['a factor with a decimal comma', { liq_amplify: '0,5' }, -6.02],
    ['RVA2', { RVA2: '-3.25 dB' }, -3.25],
    ['ReplayGain before RVA2', { RVA2: '-3.25 dB', REPLAYGAIN_TRACK_GAIN: '2 dB' }, 2],
    ['R128, which refers to another loudness', { R128_TRACK_GAIN: '-1024' }, 1],
    ['R128 with a fraction', { R128_TRACK_GAIN: '-3221' }, -7.58],
    ['a factor of Liquidsoap', { liq_amplify: '0.5' }, -6.02],
    ['Liquidsoap before ReplayGain', { liq_amplify: '1 dB', REPLAYGAIN_TRACK_GAIN: '2 dB' }, 1],
    ['ReplayGain before R128', { R128_TRACK_GAIN: '0', REPLAYGAIN_TRACK_GAIN: '2 dB' }, 2],
    [
      'R128 if the others are malformed',
      { liq_amplify: 'x', REPLAYGAIN_TRACK_GAIN: '-', R128_TRACK_GAIN: '0' },
      5
    ]
  ] as const)('%s', ([, tags, amplifyDb]) => {
    expect(read(tags)).toEqual({ ...noCuePoints, amplifyDb })
  })
})

test('values that are malformed, out of range or do not fit the duration are ignored', () => {
  for (const tags of [
    { liq_cue_in: '-1' },
    { liq_cue_in: '1e3' },
    { liq_cue_in: '60' },
    { liq_cue_in: '99999999999' },
    { liq_cue_out: '60.001' },
    { liq_cue_out: '0' },
    { liq_fade_in: '61' },
    { liq_amplify: '0' },
    { liq_amplify: '-60.1 dB' },
    { REPLAYGAIN_TRACK_GAIN: '99 dB' },
    { R128_TRACK_GAIN: '1.5' },
    { liq_cross_duration: '61' }
  ])
    expect([tags, read(tags)]).toEqual([tags, noCuePoints])
})

test('any tags result in cue points that fit', () => {
  const names = [
    'liq_cue_in',
    'liq_cue_out',
    'liq_cross_duration',
    'liq_fade_in',
    'liq_amplify',
    'R128_TRACK_GAIN'
  ]
  const anyNumber = fc.double({ min: -100, max: 100, noNaN: true }).map(String)
  const anyTags = fc.dictionary(fc.constantFrom(...names), fc.oneof(anyNumber, anyText()))
  fc.assert(
    fc.property(anyTags, fc.integer({ min: 1, max: 100_000 }), (tags, durationMs) => {
      expect(findCueProblems(read(tags, durationMs), durationMs)).toEqual([])
    })
  )
})
