import { describe, expect, test } from 'vitest'

import type { Playlist } from '../../../../src/model/autodj/library.ts'
import { buildTrackColumns, type TrackRow } from '../../../../src/model/autodj/track-columns.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aRequest,
  aTrack,
  dayMs,
  hourMs,
  type LibraryParts,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'
import { aStation, type TestStation } from '../../../support/autodj/station.ts'
import { sized } from '../../../support/tier.ts'

/** A station that started at noon. */
function stationOf(playlists: readonly Playlist[], parts: LibraryParts = {}, length = 3): TestStation {
  const station = aStation(aLibrary({ playlists, ...parts }), timeOf('12:00'), length)
  station.runTo(timeOf('12:01'))
  return station
}

const list = (id: number, parts: PlaylistParts = {}) =>
  aPlaylist({ id, tracks: [1, 2, 3, 4, 5, 6].map(number => id * 100 + number), ...parts })
const playlistsOf = ({ queue }: TestStation) => queue.map(({ playlistId }) => playlistId)
const tracksIn = ({ queue }: TestStation) => queue.map(({ trackId }) => trackId)
const heardTracks = ({ heard }: TestStation) => heard.map(({ trackId }) => trackId)
const setTracks = (rows: readonly (number | TrackRow)[]) => (playlist: Playlist) => ({
  ...playlist,
  tracks: buildTrackColumns(rows.map(row => (typeof row === 'number' ? aTrack(row) : row)))
})

describe('when a schedule changes', () => {
  test('rows outside of it are withdrawn and replaced', () => {
    const station = stationOf([list(1), list(2, { schedule: [anItem(1200, 1300)] })])
    expect(playlistsOf(station)).toEqual([2, 2, 2])
    station.change(2, playlist => ({ ...playlist, schedule: [anItem(1500, 1600)] }))
    expect(playlistsOf(station)).toEqual([1, 1, 1])
    expect(station.queue[0]?.startsAtMs).toBe(timeOf('12:03'))
  })

  test('a new window applies from the next slot, not in the middle of a song', () => {
    const station = stationOf([list(1), list(2, { schedule: [anItem(1500, 1600)] })])
    const before = station.on?.dueMs
    station.change(2, playlist => ({ ...playlist, schedule: [anItem(1200, 1300)] }))
    expect(playlistsOf(station)).toEqual([2, 2, 2])
    expect(station.on?.dueMs).toBe(before)
  })

  test('rows that are still inside do not change', () => {
    const station = stationOf([list(1), list(2, { schedule: [anItem(1200, 1300)] })])
    const before = station.queue
    station.change(2, playlist => ({ ...playlist, schedule: [anItem(1130, 1400)] }))
    expect(station.queue).toEqual(before)
  })

  test('rows that start before an earlier end of the window stay', () => {
    const station = stationOf([list(1), list(2, { schedule: [anItem(1200, 1300)] })])
    const [first] = tracksIn(station)
    station.change(2, playlist => ({ ...playlist, schedule: [anItem(1200, 1205)] }))
    expect(playlistsOf(station)).toEqual([2, 1, 1])
    expect(tracksIn(station)[0]).toBe(first)
  })
})

describe('when a track is deleted', () => {
  test('its rows are withdrawn, and the order of the others does not change', () => {
    const station = stationOf([list(1)])
    const [first, second, third] = tracksIn(station)
    station.change(1, setTracks([101, 102, 103, 104, 105, 106].filter(id => id !== second)))
    expect(tracksIn(station).slice(0, 2)).toEqual([first, third])
    expect(tracksIn(station)).toHaveLength(3)
    station.runTo(timeOf('13:00'))
    expect(heardTracks(station)).not.toContain(second)
  })

  test('a sequential playlist continues with the track after it', () => {
    const station = stationOf([list(1, { order: 'sequential' })])
    const lastPass = (id: number) => aTrack(id, { lastPass: id === 101 ? 1 : 0 })
    station.change(1, setTracks([101, 103, 104, 105, 106].map(lastPass)))
    expect(tracksIn(station)).toEqual([103, 104, 105])
  })

  test('a new track plays in the current pass', () => {
    const station = stationOf([list(1)])
    const { tracks } = station.library.playlists[0] ?? list(1)
    const known = [...tracks.ids].map((id, index) => aTrack(id, { lastPass: tracks.lastPass[index] ?? 0 }))
    station.change(1, setTracks([...known, aTrack(107)]))
    station.runTo(timeOf('12:20'))
    expect(heardTracks(station).slice(0, 7)).toContain(107)
  })

  test('the current play is not cut', () => {
    const station = stationOf([list(1)])
    const onAir = station.on?.play.trackId
    station.change(1, setTracks([101, 102, 103, 104, 105, 106].filter(id => id !== onAir)))
    expect(station.on?.dueMs).toBe(timeOf('12:03'))
  })
})

describe('when a playlist is disabled', () => {
  const off = (playlist: Playlist) => ({ ...playlist, isEnabled: false })
  const on = (playlist: Playlist) => ({ ...playlist, isEnabled: true })

  test('its rows are withdrawn, and return at the same place', () => {
    const station = stationOf([list(1, { order: 'sequential' }), list(2, { isEnabled: false })])
    expect(tracksIn(station)).toEqual([102, 103, 104])
    station.change(1, off)
    expect(station.queue).toEqual([])
    station.change(2, on)
    expect(playlistsOf(station)).toEqual([2, 2, 2])
    station.change(2, off)
    station.change(1, on)
    expect(tracksIn(station)).toEqual([102, 103, 104])
  })

  test('and nothing else is left, the station is silent after the current play until a playlist is enabled', () => {
    const station = stationOf([list(1)])
    station.change(1, off)
    station.runTo(timeOf('12:30'))
    expect(station.on).toBeNull()
    expect(station.heard).toHaveLength(1)
    station.change(1, on)
    station.runTo(timeOf('12:31'))
    expect(station.on?.play.startsAtMs).toBe(timeOf('12:30'))
  })

  test('manual rows and requests stay', () => {
    const station = stationOf([list(1)], { requests: [aRequest(5)] })
    station.add(aPlay(9, 0))
    station.change(1, off)
    expect(station.queue.map(({ mediaId }) => mediaId)).toEqual([9])
  })
})

test('rows of an emptied playlist are withdrawn; its first new track is queued', () => {
  const station = stationOf([list(1)])
  station.change(1, setTracks([]))
  expect(station.queue).toEqual([])
  station.change(1, setTracks([107]))
  expect(tracksIn(station)).toEqual([107, 107, 107])
})

describe('a duplicate range that is longer than the library', () => {
  test('plays all tracks, least recently heard first', () => {
    const station = stationOf([list(1)], { rules: { duplicateRangeMs: 7 * dayMs } })
    station.runTo(timeOf('18:00'))
    const heard = heardTracks(station)
    expect(heard.length).toBe(121)
    for (let from = 0; from + 6 <= heard.length; from += 6)
      expect(new Set(heard.slice(from, from + 6)).size).toBe(6)
  })

  test('never silences a scheduled playlist', () => {
    const show = list(2, { schedule: [anItem(1300, 1306)], tracks: [201, 202] })
    const station = stationOf([list(1), show], { rules: { duplicateRangeMs: 7 * dayMs } })
    const [untilMs, shows] = sized({ quick: [timeOf('14:00'), 1], deep: [timeOf('12:00') + 3 * dayMs, 3] })
    station.runTo(untilMs)
    expect(heardTracks(station).filter(track => track === 201 || track === 202)).toHaveLength(2 * shows)
  })
})

describe('a playlist of one song', () => {
  test('is repeated if nothing else is left', () => {
    const station = stationOf([list(1, { tracks: [101] })])
    station.runTo(timeOf('13:00'))
    expect(heardTracks(station)).toEqual(Array.from({ length: 21 }, () => 101))
    expect(station.heard.map(({ pass }) => pass)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
  })

  test('alternates with other music', () => {
    const station = stationOf([list(1), list(2, { tracks: [201], schedule: [anItem(1200, 1300)] })])
    station.runTo(timeOf('12:29'))
    const kinds = station.heard.map(({ playlistId }) => playlistId).join('')
    expect(kinds).toBe('2121212121')
  })
})

describe('a row that an operator removes', () => {
  test('from a shuffled playlist plays later in the same pass', () => {
    const station = stationOf([list(1)])
    const [first] = station.queue
    station.refuse(0)
    expect(tracksIn(station)).not.toContain(first?.trackId)
    station.runTo(timeOf('12:17'))
    expect(station.heard.filter(({ pass }) => pass === 1).map(({ trackId }) => trackId)).toContain(
      first?.trackId
    )
  })

  test('from a sequential playlist is skipped in this pass', () => {
    const station = stationOf([list(1, { order: 'sequential' })])
    station.refuse(1)
    expect(tracksIn(station)).toEqual([102, 104, 105])
    station.runTo(timeOf('12:36'))
    expect(heardTracks(station)).toEqual([101, 102, 104, 105, 106, 101, 102, 103, 104, 105, 106, 101, 102])
  })

  test('counts as played at its time', () => {
    const jingles = aPlaylist({
      id: 2,
      type: 'once_per_x_songs',
      everySongs: 3,
      tracks: [201],
      isJingle: true
    })
    const station = stationOf([list(1), jingles], {}, 8)
    const kinds = () => playlistsOf(station).join('')
    expect(kinds()).toBe('11121112')
    station.refuse(3)
    expect(kinds()).toBe('11111121')
    station.top()
    expect(kinds()).toBe('11111121')
  })

  test('cancels its request', () => {
    const station = stationOf([list(1)], { requests: [aRequest(5)] })
    station.request(aRequest(6, { dueAtMs: timeOf('12:01') }))
    expect(station.queue[0]?.requestId).toBe(6)
    station.refuse(0)
    station.runTo(timeOf('13:00'))
    expect(station.requests.map(({ id, state }) => [id, state])).toEqual([
      [5, 'aired'],
      [6, 'cancelled']
    ])
  })
})

test('a cleared queue is filled again, and its requests are pending again', () => {
  const station = stationOf([list(1, { order: 'sequential' })])
  station.request(aRequest(6, { dueAtMs: timeOf('12:01') }))
  expect(station.queue.map(({ requestId }) => requestId)).toEqual([6, null, null, null])
  const before = tracksIn(station).slice(1)
  station.withdraw(() => true)
  expect(tracksIn(station).filter(id => id !== null)).toEqual(before.slice(0, 2))
  station.runTo(timeOf('12:10'))
  expect(station.requests[0]?.state).toBe('aired')
})

test('manual songs play in the given order and count as songs', () => {
  const jingles = aPlaylist({ id: 2, type: 'once_per_x_songs', everySongs: 3, tracks: [201], isJingle: true })
  const station = stationOf([list(1), jingles], {}, 5)
  for (const number of [8, 9]) station.add(aPlay(number, 0))
  expect(station.queue.slice(0, 4).map(({ mediaId }) => mediaId)).toEqual([8, 9, expect.any(Number), 201])
  expect(station.queue.map(({ isManual }) => isManual).slice(0, 3)).toEqual([true, true, false])
})

test('a restarted process continues with the same queue', () => {
  const station = stationOf([list(1), list(2, { type: 'once_per_x_songs', everySongs: 50 })])
  station.runTo(timeOf('12:00') + 5 * hourMs)
  const before = station.queue
  station.restart()
  expect(station.queue).toEqual(before)
})
