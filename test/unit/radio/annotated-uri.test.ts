import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { noCuePoints } from '../../../src/model/songs/cue-points.ts'
import { renderAnnotatedUri } from '../../../src/radio/liquidsoap.ts'
import { anyCuePoints, anyDurationMs } from '../../support/any-cue-points.ts'
import { annotationsOf } from '../../support/playout-client.ts'

const song = {
  queueId: 3255,
  mediaId: 88,
  playlistId: 2,
  requestId: null,
  songId: 'af26',
  artist: 'The Low Signals',
  title: 'Night "Ferry"',
  fileMs: 182_530,
  cues: noCuePoints,
  autocue: null,
  isJingle: false,
  path: 'night/ferry.mp3'
}
const cues = {
  cueInMs: 400,
  cueOutMs: 180_000,
  startNextMs: 176_500,
  fadeInMs: 0,
  fadeOutMs: 3_000,
  amplifyDb: -3.2
}
const autocue = { cacheKey: 'abc-17', fadeMs: 2_000 }
const render = (changed: Partial<Parameters<typeof renderAnnotatedUri>[0]>) =>
  annotationsOf(renderAnnotatedUri({ ...song, ...changed }))

test('a song without cue points has none in its URI', () => {
  expect(renderAnnotatedUri(song)).toBe(
    'annotate:title="Night \\"Ferry\\"",artist="The Low Signals",duration="182.53",song_id="af26",media_id="88",' +
      'playlist_id="2",sq_id="3255":media:night/ferry.mp3'
  )
})

test('cue points, fades and gain are annotated for Liquidsoap; the duration is that of the file', () => {
  expect(render({ cues })).toMatchObject({
    duration: '182.53',
    liq_cue_in: '0.400',
    liq_cue_out: '180.000',
    liq_cross_start_next: '176.500',
    liq_fade_in: '0.000',
    liq_fade_out: '3.000',
    liq_amplify: '-3.20 dB'
  })
})

test('cue points that do not fit the file are left out', () => {
  const rendered = render({ cues: { ...cues, cueOutMs: 182_531 } })
  expect(rendered).toMatchObject({ liq_cue_in: '0.400', liq_cross_start_next: '176.500' })
  expect(rendered).not.toHaveProperty('liq_cue_out')
})

describe('with automatic cue points', () => {
  test('a song without any is to be measured', () => {
    const rendered = render({ autocue, cues: { ...noCuePoints, amplifyDb: 1 } })
    expect(rendered).toMatchObject({ azuracast_cache_key: 'abc-17', liq_amplify: '1.00 dB' })
    expect(Object.keys(rendered).filter(name => name.includes('autocue'))).toEqual([])
  })

  test('known cue points are sent, completed by the ends of the file and the fades of the station', () => {
    expect(render({ autocue, cues })).toMatchObject({
      azuracast_cache_key: 'abc-17',
      azuracast_autocue: 'true',
      autocue_cue_in: '0.400',
      autocue_cue_out: '180.000',
      autocue_fade_in: '0.000',
      autocue_fade_out: '3.000',
      autocue_start_next: '176.500'
    })
    const some = render({ autocue, cues: { ...noCuePoints, cueInMs: 181_530 } })
    expect(some).toMatchObject({
      autocue_cue_in: '181.530',
      autocue_cue_out: '182.530',
      autocue_fade_in: '1.000',
      autocue_fade_out: '1.000'
    })
    expect(some).not.toHaveProperty('autocue_start_next')
  })
})

test('annotated cue points fit the file, for any stored ones', () => {
  fc.assert(
    fc.property(anyCuePoints(), anyDurationMs(), (stored, fileMs) => {
      const found = render({ cues: stored, fileMs, autocue })
      const number = (name: string, fallback: number) => Number(found[name] ?? fallback)
      for (const kind of ['liq', 'autocue']) {
        const start = number(`${kind}_cue_in`, 0)
        const fileEnd = fileMs === 0 ? Infinity : fileMs / 1000
        const end = number(`${kind}_cue_out`, fileEnd)
        expect(start).toBeLessThan(end)
        expect(end).toBeLessThanOrEqual(fileEnd)
        expect(number(`${kind}_fade_in`, 0)).toBeLessThanOrEqual(end - start + 0.0005)
        expect(number(`${kind}_fade_out`, 0)).toBeLessThanOrEqual(end - start + 0.0005)
      }
    })
  )
})
