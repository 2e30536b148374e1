import { expect, test } from 'vitest'

import { joinPlaysToBlocks } from '../../../../../src/model/autodj/simulation/blocks.ts'
import { aPlaylist, aRun, at } from '../../../../support/simulated.ts'

test('consecutive plays of a playlist are one block, which ends with the run', () => {
  const run = aRun(
    [aPlaylist(1), aPlaylist(2)],
    [
      { of: 1, minutes: 30 },
      { of: 1, minutes: 30 },
      { of: 2, minutes: 10 },
      { of: 0, minutes: 20 },
      { of: 1, minutes: 60 }
    ]
  )
  expect(joinPlaysToBlocks({ ...run, untilMs: at(2) })).toEqual([
    { playlistId: 1, name: 'List 1', fromMs: at(0), untilMs: at(1), songs: 2 },
    { playlistId: 2, name: 'List 2', fromMs: at(1), untilMs: at(1, 10), songs: 1 },
    { playlistId: null, name: 'silence', fromMs: at(1, 10), untilMs: at(1, 30), songs: 0 },
    { playlistId: 1, name: 'List 1', fromMs: at(1, 30), untilMs: at(2), songs: 1 }
  ])
})
