import { describe, expect, test } from 'vitest'

import { truncateDecisionLog } from '../../../../src/model/autodj/candidates.ts'
import type { Playlist } from '../../../../src/model/autodj/library.ts'
import type { DecisionLogEntry } from '../../../../src/model/autodj/log-entry.ts'
import { pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRequest,
  aRow,
  aSituation,
  aSlot,
  aTrack,
  type LibraryParts,
  minuteMs,
  noonMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'

const logOf = (parts: LibraryParts, atMs = noonMs) =>
  pickForSlot(aSlot(aLibrary(parts), atMs), createSeededRandom(1, 1))?.log
const atNoon = noonMs / 1_000

describe('the log of a pick', () => {
  test('contains the slot, requests, draw, tracks and choice', () => {
    const playlists = [aPlaylist({ id: 4, tracks: [aTrack(401, { media: 812 })], pass: 17, weight: 5 })]
    expect(logOf({ playlists })).toEqual([
      { step: 'slot', at: atNoon, why: 'fill' },
      { step: 'requests', result: 'none', pending: 0, why: 'none_pending' },
      { step: 'bucket', bucket: 'default/unscheduled', order: [{ id: 4, weight: 5 }] },
      { step: 'tracks', id: 4, tier: 1, looked_at: 1, skipped: { song: 0, title: 0, artist: 0 }, pass: 17 },
      { step: 'picked', id: 4, media: 812, tier: 1, pass: 17, overrun: 0 }
    ])
  })

  test('of a request contains only the request', () => {
    expect(logOf({ requests: [aRequest(55)] })).toEqual([
      { step: 'slot', at: atNoon, why: 'fill' },
      { step: 'picked', request: 55 }
    ])
  })

  test('contains skipped playlists and the reasons', () => {
    const tracks = [
      aTrack(1),
      aTrack(2, { title: 1_000_001 }),
      aTrack(3, { artists: [2_000_001] }),
      aTrack(4, { artists: [2_000_001] })
    ]
    const plays = [aPlay(1, noonMs - 30 * minuteMs), aPlay(9, noonMs - 3 * minuteMs)]
    const log = logOf({ playlists: [aPlaylist({ id: 1, tracks })], plays })
    expect(log?.find(({ step }) => step === 'tracks')).toMatchObject({
      tier: 2,
      looked_at: 4,
      skipped: { song: 1, title: 1, artist: 2 }
    })
  })

  test('contains the overrun in seconds', () => {
    const playlists = [aPlaylist({ schedule: [anItem(1200, 1230)] })]
    expect(logOf({ playlists }, timeOf('12:28:30'))?.at(-1)).toMatchObject({ step: 'picked', overrun: 90 })
    expect(logOf({ playlists }, timeOf('12:27'))?.at(-1)).toMatchObject({ step: 'picked', overrun: 0 })
  })

  test.for<[bucket: string, parts: PlaylistParts]>([
    ['once_per_hour/scheduled', { type: 'once_per_hour', schedule: [anItem(1100, 1300)] }],
    ['once_per_x_songs/unscheduled', { type: 'once_per_x_songs', everySongs: 1 }],
    ['once_per_x_minutes/unscheduled', { type: 'once_per_x_minutes', everyMinutes: 1 }],
    ['default/scheduled', { schedule: [anItem(1100, 1300)] }]
  ])('names the bucket %s', ([bucket, parts]) => {
    const log = logOf({ playlists: [aPlaylist(parts)] })
    expect(log?.find(({ step }) => step === 'bucket')).toMatchObject({ bucket })
  })
})

describe('why a playlist is not due', () => {
  const window = [anItem(1130, 1201)]
  const played = [aPlayOf(1, 101, timeOf('11:58'))]

  test.for<[why: string, parts: PlaylistParts, library?: LibraryParts]>([
    ['not_scheduled', { schedule: [anItem(1300, 1400)] }],
    ['already_played', { type: 'once_per_hour', hourMinute: 50 }, { plays: played }],
    ['too_soon', { type: 'once_per_x_minutes', everyMinutes: 5 }, { plays: played }],
    ['too_soon', { type: 'once_per_hour', hourMinute: 30 }],
    ['not_enough_songs', { type: 'once_per_x_songs', everySongs: 2 }, { plays: played }],
    ['not_configured', { type: 'once_per_x_songs' }],
    ['not_configured', { type: 'once_per_x_minutes' }],
    ['disabled', { isEnabled: false }],
    ['empty', { tracks: [] }],
    ['overrun', { schedule: window, tracks: [101, 102, 103] }, { plays: played, rules: { overrunMs: 0 } }],
    ['overrun', { schedule: window, order: 'sequential' }, { plays: played, rules: { overrunMs: 0 } }],
    ['overrun', { schedule: window, options: ['merge'] }, { plays: played, rules: { overrunMs: 0 } }],
    ['loop_done', { schedule: window, options: ['loop_once'], tracks: [101] }, { plays: played }]
  ])('%s', ([why, parts, library = {}]) => {
    const playlists: Playlist[] = [aPlaylist({ id: 1, name: 'Legal ID', ...parts }), aPlaylist({ id: 2 })]
    const log = logOf({ playlists, ...library })
    expect(log?.filter(({ step }) => step === 'playlist')).toEqual([
      { step: 'playlist', id: 1, name: 'Legal ID', due: false, why }
    ])
    expect(log?.at(-1)).toMatchObject({ step: 'picked', id: 2 })
  })
})

describe('why there is no request', () => {
  test.for<[why: string, parts: LibraryParts]>([
    ['not_due', { requests: [aRequest(5, { dueAtMs: noonMs + minuteMs })] }],
    ['too_recent', { requests: [aRequest(5)], plays: [aPlay(5, noonMs - minuteMs)] }],
    ['run_limit', { requests: [aRequest(5)], plays: [1, 2].map(id => aPlay(id, noonMs, { requestId: id })) }],
    [
      'prioritized',
      { requests: [aRequest(5)], playlists: [aPlaylist({ options: ['prioritize'], tracks: [101] })] }
    ]
  ])('%s', ([why, parts]) => {
    expect(logOf(parts)?.[1]).toEqual({ step: 'requests', result: 'none', pending: 1, why })
  })
})

test('replacements are logged', () => {
  const queue = [aRow(1, aPlayOf(1, 101, noonMs + 3 * minuteMs))]
  const library = aLibrary({
    playlists: [aPlaylist({ id: 1, schedule: [anItem(1500, 1600)] }), aPlaylist({ id: 2 })]
  })
  const { insert } = planQueue(aSituation({ library, queue }))
  expect(insert.map(({ log }) => log[0])).toMatchObject([
    { why: 'replaced' },
    { why: 'fill' },
    { why: 'fill' }
  ])
})

test('interrupts are logged', () => {
  const hourly = aPlaylist({ id: 2, type: 'once_per_hour', hourMinute: 1, options: ['interrupt'] })
  const { insert } = planQueue(aSituation({ library: aLibrary({ playlists: [aPlaylist(), hourly] }) }))
  expect(insert[0]?.log[0]).toEqual({ step: 'slot', at: timeOf('12:01') / 1_000, why: 'interrupt' })
})

describe('a log that is too long', () => {
  const entry = (id: number, name = 'x'): DecisionLogEntry => ({
    step: 'playlist',
    id,
    name,
    due: false,
    why: 'too_soon'
  })
  const idsOf = (log: readonly DecisionLogEntry[]) => log.map(each => ('id' in each ? each.id : 0))

  test('keeps its beginning and its end', () => {
    const long = Array.from({ length: 100 }, (_, id) => entry(id))
    const ids = idsOf(truncateDecisionLog(long))
    expect(ids).toEqual([
      ...Array.from({ length: 30 }, (_, id) => id),
      ...Array.from({ length: 30 }, (_, id) => id + 70)
    ])
    expect(truncateDecisionLog(long.slice(0, 60))).toEqual(long.slice(0, 60))
  })

  test('has at most 8 KiB', () => {
    for (const name of ['n'.repeat(200), 'ü'.repeat(200), '"'.repeat(200)]) {
      const log = truncateDecisionLog(Array.from({ length: 60 }, (_, id) => entry(id, name)))
      expect(Buffer.byteLength(JSON.stringify(log))).toBeLessThanOrEqual(8_192)
      expect(Buffer.byteLength(JSON.stringify(log))).toBeGreaterThan(7_500)
      expect(idsOf(log)[0]).toBe(0)
      expect(idsOf(log).at(-1)).toBe(59)
    }
  })

  test('lists at most 20 playlists of a draw', () => {
    const playlists = Array.from({ length: 300 }, (_, id) =>
      aPlaylist({ id, name: 'p'.repeat(200), tracks: [id] })
    )
    const dueLate = playlists.map(playlist => ({
      ...playlist,
      id: playlist.id + 1_000,
      schedule: [anItem(1500, 1600)]
    }))
    const log = logOf({ playlists: [...playlists, ...dueLate] }) ?? []
    expect(log.length).toBeLessThanOrEqual(60)
    expect(log[0]).toMatchObject({ step: 'slot' })
    expect(log.at(-1)).toMatchObject({ step: 'picked' })
  })
})
