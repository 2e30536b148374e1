import { expect, test } from 'vitest'

import { explainPlay } from '../../../../src/commands/simulate/explain-play.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'
import { aPlaylist, at, inARow, monday } from '../../../support/simulated.ts'

const zone = getTimeZone('UTC')
const playlists = [aPlaylist(1), aPlaylist(2)]
const songName = (id: number | null) => `Song ${id}`
const second = at(0) / 1_000

test('a play is described with all reasons', () => {
  const [play] = inARow(monday, [
    {
      of: 1,
      minutes: 4,
      mediaId: 7,
      log: [
        { step: 'slot', at: second, why: 'window_open' },
        { step: 'requests', result: 'none', pending: 2, why: 'too_recent' },
        { step: 'playlist', id: 3, name: 'News', due: false, why: 'not_scheduled' },
        { step: 'playlist', id: 4, name: 'ID', due: false, why: 'too_soon' },
        { step: 'playlist', id: 5, name: 'Show', due: false, why: 'not_scheduled' },
        {
          step: 'bucket',
          bucket: 'default/unscheduled',
          order: [
            { id: 1, weight: 3 },
            { id: 2, weight: 5 }
          ]
        },
        {
          step: 'tracks',
          id: 1,
          tier: 2,
          looked_at: 40,
          skipped: { song: 3, title: 1, artist: 36 },
          pass: 6
        },
        { step: 'picked', id: 1, media: 7, tier: 2, pass: 6, overrun: 12 },
        { step: 'moved', from: second, to: second + 60, why: 'request_inserted' }
      ]
    }
  ])
  expect(play && explainPlay(play, playlists, zone, songName)).toEqual([
    'Mon 2026-01-12 00:00:00  List 1: Song 7 (4:00)',
    '    slot of 00:00:00: window open',
    '    none of 2 requests: too recent',
    '    drawn from default/unscheduled: List 1 (weight 3), List 2 (weight 5)',
    '    40 tracks of List 1; duplicates: 3 by song, 1 by title, 36 by artist',
    '    tier 2 of pass 6, 12 s overrun',
    '    moved from 00:00:00 to 00:01:00',
    '    not due: News, Show (not scheduled); ID (too soon)'
  ])
})

test('silence, requests and manual songs are named', () => {
  const heads = inARow(monday, [
    { of: 0, minutes: 61 },
    { of: 1, minutes: 3, playlistId: null, requestId: 5, log: [{ step: 'picked', request: 5 }] },
    { of: 1, minutes: 3, playlistId: null }
  ]).map(each => explainPlay(each, playlists, zone, songName))
  expect(heads).toEqual([
    ['Mon 2026-01-12 00:00:00  silence (1:01:00)'],
    ['Mon 2026-01-12 01:01:00  request: Song 101 (3:00)', '    request 5'],
    ['Mon 2026-01-12 01:04:00  manual: Song 102 (3:00)']
  ])
})
