import type { PlayOrRow, Library } from '../autodj/library.ts'
import { pickForSlot } from '../autodj/pick.ts'
import { seededRandom } from '../autodj/random.ts'
import { buildTracks, type TrackRow } from '../autodj/tracks.ts'
import { hourMs, openZone } from '../autodj/zone.ts'
import { newPlaylistSettings, newStationSettings } from './example-station.ts'
import { renderTable } from './report-text.ts'

const trackCount = 10_000
const trackMs = 200_000
const atMs = Date.UTC(2026, 0, 9, 12)
const warmUpPicks = 300
const picks = 2_000
const playedRecently = 36

/** Returns a key as large as real ones, because a map finds small keys faster. */
const makeKey = (number: number) => (number + 1) * 274_877_906_951

/**
 * A set of tracks, and the expected choice. By default, 36 of the tracks were played in the last two hours.
 */
interface BenchCase {
  readonly name: string
  readonly tier: number
  readonly pass?: number
  readonly rangeMs?: number
  readonly playedCount?: number
  readonly makeRow: (index: number) => Partial<TrackRow>
}

const playedInPass = (index: number) => ({ lastPass: index < playedRecently ? 1 : 0 })
const playedExcept = (unplayed: number) => (index: number) => ({ lastPass: index === unplayed ? 0 : 1 })

const cases: readonly BenchCase[] = [
  { name: '36 tracks were played in the last two hours', tier: 1, makeRow: playedInPass },
  {
    name: 'all tracks are by one artist',
    tier: 2,
    makeRow: index => ({ ...playedInPass(index), artists: [makeKey(5)] })
  },
  {
    name: 'all tracks have one title',
    tier: 3,
    makeRow: index => ({ ...playedInPass(index), title: makeKey(5) })
  },
  {
    name: 'all tracks were played within a duplicate range of a week',
    tier: 3,
    pass: 2,
    rangeMs: 7 * 24 * hourMs,
    playedCount: trackCount,
    makeRow: () => ({ lastPass: 1 })
  },
  { name: 'one track is left in this pass', tier: 1, makeRow: playedExcept(trackCount / 2) },
  {
    name: 'the only track left in this pass was just played, so the next pass begins',
    tier: 1,
    pass: 2,
    makeRow: playedExcept(playedRecently / 2)
  }
]

/** Measures the time of one choice among 10,000 tracks. Returns a table. `now` returns milliseconds. */
export function benchPicks(now: () => number): string {
  const rows = cases.map(
    ({ name, tier, pass = 1, rangeMs = 2 * hourMs, playedCount = playedRecently, makeRow }) => {
      const tracks = Array.from({ length: trackCount }, (_, index) => ({
        ...makeTrack(index),
        ...makeRow(index)
      }))
      const library = makeLibrary(tracks, tracks.slice(0, playedCount), rangeMs)
      const choose = (slot: number) => {
        const slotContext = { library, rowsBefore: [], rowsAfter: [], atMs, rejected: new Set<number>() }
        const decision = pickForSlot(slotContext, seededRandom(7, slot))
        const picked = decision?.log.findLast(entry => entry.step === 'picked')
        return picked && 'tier' in picked ? picked : null
      }
      for (let slot = 0; slot < warmUpPicks; slot++) choose(slot)
      const times: number[] = []
      for (let slot = 0; slot < picks; slot++) {
        const startedAt = now()
        const picked = choose(slot)
        times.push(now() - startedAt)
        if (picked?.tier !== tier || picked.pass !== pass)
          throw new Error(`${name}: expected tier ${tier} in pass ${pass}, got ${JSON.stringify(picked)}`)
      }
      times.sort((a, b) => a - b)
      const quantile = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(2)
      return [name, String(tier), quantile(0.5), quantile(0.99), quantile(1)]
    }
  )
  const head = ['situation', 'tier', 'p50 ms', 'p99 ms', 'max ms']
  return `${renderTable(head, rows).join('\n')}\n`
}

function makeTrack(index: number): TrackRow {
  return {
    id: index + 1,
    media: index + 1,
    song: makeKey(index),
    title: makeKey(index),
    artists: [makeKey(index % 3_000)],
    durationMs: trackMs,
    lastPass: 0,
    lastAiredMs: 0
  }
}

/** Makes a library whose plays are spread evenly over the range. */
function makeLibrary(rows: readonly TrackRow[], played: readonly TrackRow[], rangeMs: number): Library {
  const plays = played.map((row, index): PlayOrRow => ({
    playlistId: 1,
    trackId: row.id,
    mediaId: row.media,
    pass: 1,
    requestId: null,
    occurrenceMs: null,
    song: row,
    isVisible: true,
    isInterrupt: false,
    startsAtMs: atMs - ((played.length - index) * rangeMs) / (played.length + 1),
    durationMs: trackMs
  }))
  return {
    rules: { zone: openZone('UTC'), seed: 7, ...newStationSettings, duplicateRangeMs: rangeMs },
    playlists: [{ id: 1, name: 'Rotation', ...newPlaylistSettings, tracks: buildTracks(rows) }],
    past: { plays, older: new Map(), removed: [] },
    requests: []
  }
}
