import { describe, expect, test } from 'vitest'

import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { applyQueuePlan } from '../../../../src/model/autodj/simulate.ts'
import {
  aLibrary,
  anItem,
  aPlaylist,
  aPlayOf,
  aRow,
  aSituation,
  aTrack,
  minuteMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'
import { aStation } from '../../../support/autodj/station.ts'

const entries = [101, 102, 103].map(id =>
  aTrack(id, { uri: `https://cdn.example/${id}`, artists: [1], title: 1 })
)
const list = (parts: PlaylistParts = {}) => aPlaylist({ id: 1, source: 'list', tracks: entries, ...parts })

describe('a remote list', () => {
  test('plays entry by entry, with URLs', () => {
    const { insert } = planQueue(
      aSituation({ library: aLibrary({ playlists: [list({ order: 'sequential' })] }) })
    )
    expect(insert.map(({ uri }) => uri)).toEqual([101, 102, 103].map(id => `https://cdn.example/${id}`))
  })

  test('has passes like songs', () => {
    const library = aLibrary({ playlists: [list()] })
    const { insert } = planQueue(aSituation({ library, queueLength: 6 }))
    const passes = insert.map(({ trackId, pass }) => `${trackId} in ${pass}`)
    expect(passes.slice(0, 3).toSorted()).toEqual(['101 in 1', '102 in 1', '103 in 1'])
    expect(passes.slice(3).toSorted()).toEqual(['101 in 2', '102 in 2', '103 in 2'])
  })

  test('ignores titles and artists', () => {
    const plays = [aPlayOf(1, 101, timeOf('11:57'), { song: { song: 101, title: 1, artists: [1] } })]
    const { insert } = planQueue(aSituation({ library: aLibrary({ playlists: [list()], plays }) }))
    expect(insert[0]?.log.at(-1)).toMatchObject({ step: 'picked', tier: 1 })
  })

  test('counts three minutes for entries of unknown length', () => {
    const tracks = entries.map(entry => ({ ...entry, durationMs: 0 }))
    const { insert } = planQueue(aSituation({ library: aLibrary({ playlists: [list({ tracks })] }) }))
    expect(insert.map(({ startsAtMs }) => startsAtMs)).toEqual(['12:03', '12:06', '12:09'].map(timeOf))
  })

  test('keeps the place of an entry across a refresh', () => {
    const station = aStation(aLibrary({ playlists: [list({ order: 'sequential' })] }), timeOf('12:00'))
    station.runTo(timeOf('12:04'))
    const refreshed = list({
      order: 'sequential',
      tracks: [
        aTrack(104),
        ...entries.map((entry, index) => ({ ...entry, lastPass: index < 2 ? 1 : 0 }))
      ].slice(1)
    })
    station.change(1, playlist => ({ ...playlist, tracks: refreshed.tracks }))
    station.runTo(timeOf('12:10'))
    expect(station.heard.map(({ trackId }) => trackId)).toEqual([101, 102, 103, 101])
  })
})

describe('a stream', () => {
  const stream = (parts: PlaylistParts = {}) =>
    aPlaylist({ id: 2, source: 'stream', tracks: [201], ...parts })

  test('has one row to the end of its window', () => {
    const library = aLibrary({
      playlists: [stream({ schedule: [anItem(1200, 1330)] }), aPlaylist({ id: 1 })]
    })
    const rows = applyQueuePlan([], planQueue(aSituation({ library })))
    expect(rows.map(({ playlistId, startsAtMs }) => [playlistId, startsAtMs])).toEqual([
      [2, timeOf('12:03')],
      [1, timeOf('13:30')],
      [1, timeOf('13:33')]
    ])
  })

  test('without a schedule ends as soon as anything else may play', () => {
    const station = aStation(
      aLibrary({ playlists: [stream(), aPlaylist({ id: 1, isEnabled: false })] }),
      timeOf('12:00')
    )
    station.runTo(timeOf('12:01'))
    expect(station.queue.map(({ playlistId, durationMs }) => [playlistId, durationMs])).toEqual(
      [1, 2, 3].map(() => [2, 10 * minuteMs])
    )
    station.change(1, playlist => ({ ...playlist, isEnabled: true }))
    expect(station.queue.map(({ playlistId }) => playlistId)).toEqual([1, 1, 1])
    station.runTo(timeOf('12:11'))
    expect(station.heard.map(({ playlistId }) => playlistId)).toEqual([2, 1])
  })

  test('without a schedule is not withdrawn for another one', () => {
    const library = aLibrary({ playlists: [stream(), stream({ id: 3, tracks: [301] })] })
    const queue = [
      aRow(1, aPlayOf(2, 201, timeOf('12:03'), { durationMs: 10 * minuteMs }), { cuedAtMs: timeOf('12:00') })
    ]
    expect(planQueue(aSituation({ library, queue })).withdraw).toEqual([])
  })
})
