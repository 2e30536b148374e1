import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'

import { checkPlaylistDue } from '../../../../src/model/autodj/due.ts'
import { areDuplicateSongs } from '../../../../src/model/autodj/duplicates.ts'
import { airtimeMs, computeMaxAirtimeMs } from '../../../../src/model/autodj/durations.ts'
import {
  type PlayOrRow,
  isInterruptingPlaylist,
  isSequencePlaylist,
  type AutodjLibrary,
  type QueueSlot
} from '../../../../src/model/autodj/library.ts'
import { playlistRanks, isFallbackStream, hasRank, pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import { columnValueAt, songKeysAt } from '../../../../src/model/autodj/track-columns.ts'
import { findTrackPools } from '../../../../src/model/autodj/track-pools.ts'
import { libraryOf, playlistSpecs, type StationSpec, stationSpecs } from '../../../support/autodj/days.ts'
import { aPlayOf, aRequest, aSituation, aSlot, minuteMs, noonMs } from '../../../support/autodj/library.ts'
import { sized } from '../../../support/tier.ts'

const numRuns = sized({ quick: 20, deep: 500 })

/** Plays, by indices of playlists and tracks; the pass is one of three. */
interface PlaySpec {
  of: number
  track: number
  minutesAgo: number
  pass: number
}

const playSpecs = fc.array(
  fc.record({
    of: fc.nat(3),
    track: fc.nat(5),
    minutesAgo: fc.nat(300),
    pass: fc.integer({ min: 1, max: 3 })
  }),
  { maxLength: 12 }
)

interface SlotSpec {
  station: StationSpec
  played: PlaySpec[]
  rowsBefore: number
  requested: number[]
}

const slotSpecs: fc.Arbitrary<SlotSpec> = fc.record({
  station: stationSpecs(),
  played: playSpecs,
  rowsBefore: fc.nat(4),
  requested: fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 2 })
})

/** The slot at noon after the plays; the last plays are queued rows. All times can be shifted. */
function slotOf({ station, played, rowsBefore, requested }: SlotSpec, movedMs = 0): QueueSlot {
  const library = libraryOf(station)
  const plays = played
    .toSorted((a, b) => b.minutesAgo - a.minutesAgo)
    .map(({ of, track, minutesAgo, pass }): PlayOrRow => {
      const playlist = library.playlists[of % library.playlists.length]
      const index = track % (playlist?.tracks.ids.length ?? 1)
      const atMs = noonMs + movedMs - (minutesAgo + 1) * minuteMs
      const id = playlist?.id ?? 0
      const song = playlist ? songKeysAt(playlist.tracks, index) : { song: 0, title: 0, artists: [] }
      if (playlist) {
        playlist.tracks.lastPass[index] = Math.max(pass, columnValueAt(playlist.tracks.lastPass, index))
        playlist.tracks.lastAired[index] = atMs
      }
      return aPlayOf(id, id * 100 + index, atMs, { song, pass, isVisible: !playlist?.isJingle })
    })
  const aired = plays.length - Math.min(rowsBefore, plays.length)
  const requests = requested.map((minutes, index) =>
    aRequest(index + 1, { mediaId: 900 + index, dueAtMs: noonMs + movedMs + minutes * minuteMs })
  )
  const past = { plays: plays.slice(0, aired), older: new Map(), removed: [] }
  return aSlot({ ...library, past, requests }, noonMs + movedMs, { rowsBefore: plays.slice(aired) })
}

/** Freezes everything except typed arrays, which cannot be frozen. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  Object.values(value).forEach(frozen)
  return Object.freeze(value)
}

const columnsOf = ({ playlists }: AutodjLibrary) =>
  playlists.flatMap(({ tracks }) => Object.values(tracks).map(column => [...(column ?? [])]))

describe('a decision', () => {
  test('depends only on its input, and does not modify it', () => {
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => expect.unreachable('the clock was read'))
    const chance = vi
      .spyOn(Math, 'random')
      .mockImplementation(() => expect.unreachable('there is chance in it'))
    const property = fc.property(slotSpecs, fc.nat(), (spec, seed) => {
      const slot = frozen(slotOf(spec))
      const before = columnsOf(slot.library)
      const once = pickForSlot(slot, createSeededRandom(seed, 1))
      for (let unused = 1; unused < 4; unused++) pickForSlot(slot, createSeededRandom(seed, unused + 1))
      expect(pickForSlot(slot, createSeededRandom(seed, 1))).toEqual(once)
      expect(pickForSlot(slotOf(spec), createSeededRandom(seed, 1))).toEqual(once)
      const situation = () => frozen(aSituation({ library: slotOf(spec).library }))
      expect(planQueue(situation())).toEqual(planQueue(situation()))
      expect(columnsOf(slot.library)).toEqual(before)
    })
    try {
      fc.assert(property, { numRuns })
    } finally {
      clock.mockRestore()
      chance.mockRestore()
    }
  })

  test('exists whenever a playlist is due', () => {
    const property = fc.property(slotSpecs, fc.nat(), (spec, seed) => {
      const slot = slotOf(spec)
      const isDue = slot.library.playlists.some(
        playlist => !isInterruptingPlaylist(playlist) && checkPlaylistDue(playlist, slot).obstacle === null
      )
      expect(pickForSlot(slot, createSeededRandom(seed, 1)) !== null || !isDue).toBe(true)
    })
    fc.assert(property, { numRuns })
  })

  test('has the best possible tier', () => {
    // `previous-song.test.ts` tests jingles, which have rules of their own.
    const withoutJingles = (spec: SlotSpec) => ({
      ...spec,
      requested: [],
      station: {
        ...spec.station,
        playlists: spec.station.playlists.map(playlist => ({ ...playlist, isJingle: false }))
      }
    })
    const property = fc.property(slotSpecs, fc.nat(), (spec, seed) => {
      const slot = slotOf(withoutJingles(spec))
      const decision = pickForSlot(slot, createSeededRandom(seed, 1))
      const entry = decision?.log.at(-1)
      const tier = entry?.step === 'picked' && 'tier' in entry ? entry.tier : 0
      const last = slot.rowsBefore.at(-1) ?? slot.library.past.plays.at(-1)
      const track = decision?.tracks[0]
      const own = slot.library.playlists.find(({ id }) => id === track?.playlistId)
      fc.pre(own !== undefined && !isFallbackStream(own))
      const isForced = track?.song.song === last?.song.song
      const bucket = playlistRanks.find(each => own && hasRank(own, each))
      const best = slot.library.playlists
        .filter(
          playlist =>
            bucket &&
            hasRank(playlist, bucket) &&
            !isInterruptingPlaylist(playlist) &&
            !isFallbackStream(playlist)
        )
        .map(playlist => bestTier(playlist, slot))
      expect(isForced || tier === Math.min(...best)).toBe(true)
    })
    fc.assert(property, { numRuns })
  })

  test('is invariant under a shift of all times, without schedules and hours', () => {
    const kind = playlistSpecs
      .filter(({ type }) => type !== 'once_per_hour')
      .map(({ schedule: _schedule, ...spec }) => spec)
    const shifts = fc.integer({ min: -1_000_000, max: 1_000_000 }).map(seconds => seconds * 1_000)
    const specs = fc.record({
      station: stationSpecs(kind),
      played: playSpecs,
      rowsBefore: fc.nat(4),
      requested: fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 2 })
    })
    const property = fc.property(specs, shifts, (spec, shiftMs) => {
      const planAt = (movedMs: number) => {
        const nowMs = noonMs + movedMs
        const { insert, ...plan } = planQueue(aSituation({ library: slotOf(spec, movedMs).library, nowMs }))
        const rows = insert.map(({ log: _log, ...row }) => ({
          ...row,
          startsAtMs: row.startsAtMs - movedMs,
          cuedAtMs: row.cuedAtMs - movedMs
        }))
        return { rows, endsMs: plan.runningEndsMs - movedMs }
      }
      expect(planAt(shiftMs)).toEqual(planAt(0))
    })
    fc.assert(property, { numRuns })
  })
})

/** The best tier of a playlist for a slot, by brute force; Infinity if nothing fits. */
function bestTier(playlist: AutodjLibrary['playlists'][number], slot: QueueSlot): number {
  const { obstacle: why, window } = checkPlaylistDue(playlist, slot)
  if (why !== null) return Infinity
  const last = slot.rowsBefore.at(-1) ?? slot.library.past.plays.at(-1)
  if (playlist.source === 'stream' || isSequencePlaylist(playlist)) {
    const isOwn = last?.playlistId === playlist.id && isSequencePlaylist(playlist)
    const [first] = offered(playlist, slot)
    return !isOwn && first === last?.song.song ? Infinity : 1
  }
  const { tracks } = playlist
  const { past, rules } = slot.library
  const before = [...past.plays, ...slot.rowsBefore]
  const near = before.filter(
    (play, index) => play.startsAtMs > slot.atMs - rules.duplicateRangeMs || index === before.length - 1
  )
  const others = rules.duplicateRangeMs === 0 ? [] : near
  const longestMs = computeMaxAirtimeMs(playlist, slot, window)
  const tiers = findTrackPools(playlist, slot, window, 0).flatMap(pool =>
    [...tracks.ids.keys()].flatMap(index => {
      const keys = songKeysAt(tracks, index)
      const isOut = !pool.includes(index) || keys.song === last?.song.song
      if (isOut || airtimeMs(columnValueAt(tracks.durations, index)) > longestMs) return []
      if (!playlist.avoidsDuplicates) return [1]
      const clashes = others.filter(({ song }) => areDuplicateSongs(keys, song))
      const isHard = clashes.some(
        ({ song }) => song.song === keys.song || (song.title !== 0 && song.title === keys.title)
      )
      return [clashes.length === 0 ? 1 : isHard ? 3 : 2]
    })
  )
  return Math.min(...tiers)
}

/** The first song of a sequence, batch or stream. */
function offered(playlist: AutodjLibrary['playlists'][number], slot: QueueSlot): number[] {
  const library = { ...slot.library, playlists: [playlist], requests: [] }
  const alone = { ...slot, library, rowsBefore: slot.rowsBefore }
  const track = pickForSlot(alone, createSeededRandom(1, 1))?.tracks[0]
  return track ? [track.song.song] : []
}
