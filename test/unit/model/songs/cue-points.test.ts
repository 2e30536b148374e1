import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  completeCuePoints,
  type CuePoints,
  findCueProblems,
  fitCuePoints,
  noCuePoints
} from '../../../../src/model/songs/cue-points.ts'
import { anyCuePoints, anyDurationMs } from '../../../support/any-cue-points.ts'

const minute = 60_000
const problemsOf = (cues: Partial<CuePoints>, durationMs = minute) =>
  findCueProblems({ ...noCuePoints, ...cues }, durationMs).map(({ name }) => name)

describe('cue points fit', () => {
  test.for<[name: string, cues: Partial<CuePoints>, durationMs?: number]>([
    ['none', {}],
    ['the whole song', { cueInMs: 0, cueOutMs: minute, startNextMs: minute }],
    ['fades of the whole song', { cueInMs: 10_000, fadeInMs: 50_000, fadeOutMs: 50_000 }],
    ['an unknown duration', { cueInMs: 900_000, cueOutMs: 900_001, startNextMs: 900_001 }, 0],
    ['gains', { amplifyDb: -60 }]
  ])('%s', ([, cues, durationMs]) => {
    expect(problemsOf(cues, durationMs)).toEqual([])
  })
})

describe('cue points do not fit', () => {
  test.for<[name: string, cues: Partial<CuePoints>, problems: string[]]>([
    ['an end after the end', { cueOutMs: minute + 1 }, ['cueOutMs']],
    ['an end at the start', { cueOutMs: 0 }, ['cueOutMs']],
    ['an end before the start', { cueInMs: 5_000, cueOutMs: 5_000 }, ['cueOutMs']],
    ['a start at the end', { cueInMs: minute }, ['cueInMs']],
    ['a next song before the start', { cueInMs: 5_000, startNextMs: 5_000 }, ['startNextMs']],
    ['a next song after the end', { cueOutMs: 5_000, startNextMs: 5_001 }, ['startNextMs']],
    ['long fades', { cueOutMs: 5_000, fadeInMs: 5_001, fadeOutMs: 6_000 }, ['fadeInMs', 'fadeOutMs']],
    ['a loud gain', { amplifyDb: 60.01 }, ['amplifyDb']],
    ['no number', { amplifyDb: NaN }, ['amplifyDb']]
  ])('%s', ([, cues, problems]) => {
    expect(problemsOf(cues)).toEqual(problems)
  })
})

test('cue points that fit are kept, and others are dropped', () => {
  const cues = { ...noCuePoints, cueInMs: 70_000, cueOutMs: 50_000, fadeOutMs: 2_000, amplifyDb: -3 }
  expect(fitCuePoints(cues, minute)).toEqual({ ...cues, cueInMs: null })
})

test('known cue points are completed by those that fit them', () => {
  const known = { ...noCuePoints, cueOutMs: 50_000 }
  const more = { ...noCuePoints, cueInMs: 1_000, cueOutMs: 40_000, startNextMs: 55_000, fadeInMs: 0 }
  expect(completeCuePoints(known, more, minute)).toEqual({ ...known, cueInMs: 1_000, fadeInMs: 0 })
})

test('any cue points have no problem after they were fitted, and fitting them again changes nothing', () => {
  fc.assert(
    fc.property(anyCuePoints(), anyDurationMs(), (cues, durationMs) => {
      const fitted = fitCuePoints(cues, durationMs)
      expect(findCueProblems(fitted, durationMs)).toEqual([])
      expect(fitCuePoints(fitted, durationMs)).toEqual(fitted)
      const isFit = findCueProblems(cues, durationMs).length === 0
      expect(isFit ? fitted : cues).toEqual(cues)
    })
  )
})

test('completing never changes a known cue point', () => {
  fc.assert(
    fc.property(anyCuePoints(), anyCuePoints(), anyDurationMs(), (known, more, durationMs) => {
      const completed: Record<string, number | null> = { ...completeCuePoints(known, more, durationMs) }
      const changed = Object.entries(known).filter(
        ([name, value]) => value !== null && completed[name] !== value
      )
      expect(changed).toEqual([])
    })
  )
})
