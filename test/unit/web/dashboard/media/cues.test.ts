import { array, assert, constantFrom, double, integer, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'

import { findCueProblems } from '../../../../../src/model/songs/cue-points.ts'
import {
  cueNames,
  type Cues,
  cueStep,
  formatCuePosition,
  moveCue,
  resolveCuePosition
} from '../../../../../web/dashboard/media/cues.ts'
import { fitWaveformToColumns } from '../../../../../web/dashboard/media/waveform-columns.ts'

const none: Cues = { cue_in: null, cue_out: null, fade_in: null, fade_out: null, cross_start_next: null }

const toMs = (seconds: number | null) => (seconds === null ? null : Math.round(seconds * 1_000))

test('however handles are moved, the server accepts the cue points', () => {
  const move = tuple(constantFrom(...cueNames), double({ min: -50, max: 400, noNaN: true }))
  assert(
    property(integer({ min: 1, max: 300 }), array(move, { maxLength: 12 }), (duration, moves) => {
      let cues = none
      for (const [name, position] of moves) cues = moveCue(name, position, cues, duration)
      const points = {
        cueInMs: toMs(cues.cue_in),
        cueOutMs: toMs(cues.cue_out),
        fadeInMs: toMs(cues.fade_in),
        fadeOutMs: toMs(cues.fade_out),
        startNextMs: toMs(cues.cross_start_next),
        amplifyDb: null
      }
      expect(findCueProblems(points, duration * 1_000)).toEqual([])
    })
  )
})

test('handles of unknown values are at the start and the end', () => {
  expect(cueNames.map(name => resolveCuePosition(name, none, 200))).toEqual([0, 0, 200, 200, 200])
  const cues = { ...none, cue_in: 2, fade_in: 3, cue_out: 190, fade_out: 5 }
  expect(cueNames.map(name => resolveCuePosition(name, cues, 200))).toEqual([2, 5, 190, 185, 190])
})

test('keys move a handle by a tenth of a second, a second or ten', () => {
  expect(cueStep('ArrowRight', false)).toBe(0.1)
  expect(cueStep('ArrowLeft', true)).toBe(-1)
  expect(cueStep('PageUp', false)).toBe(10)
  expect(cueStep('Tab', false)).toBeNull()
  expect(moveCue('cue_in', -Infinity, { ...none, cue_in: 3 }, 100).cue_in).toBe(0)
  expect(moveCue('cue_out', Infinity, none, 100.5).cue_out).toBe(100.5)
  expect(formatCuePosition(62.46)).toBe('1:02.5')
})

test('a waveform is fitted to fewer and to more columns', () => {
  const waveform = {
    sample_rate: 8_000,
    samples_per_pixel: 64,
    bits: 8 as const,
    length: 4,
    data: [-1, 1, -2, 2, -3, 3, -4, 4]
  }
  expect(fitWaveformToColumns(waveform, 2)).toEqual([
    [-2, 2],
    [-4, 4]
  ])
  expect(fitWaveformToColumns(waveform, 8)[7]).toEqual([-4, 4])
})
