import type { HeardPlay, Library } from '../autodj/library.ts'
import { pick } from '../autodj/pick.ts'
import { seededRandom } from '../autodj/random.ts'
import { buildTracks, type TrackRow } from '../autodj/tracks.ts'
import { hourMs, openZone } from '../autodj/zone.ts'
import { newPlaylist, newStationRules } from './example-station.ts'
import { renderTable } from './report-text.ts'

const count = 10_000
const trackMs = 200_000
const atMs = Date.UTC(2026, 0, 9, 12)
const warmUpPicks = 300
const picks = 2_000
const heardRecently = 36

/** As large as real keys, because a map finds small keys faster. */
const keyOf = (number: number) => (number + 1) * 274_877_906_951

/** A set of tracks, and the expected choice. By default 36 of the tracks were heard, in two hours. */
interface BenchCase {
  readonly name: string
  readonly tier: number
  readonly pass?: number
  readonly rangeMs?: number
  readonly heard?: number
  readonly rowOf: (index: number) => Partial<TrackRow>
}

const played = (index: number) => ({ lastPass: index < heardRecently ? 1 : 0 })
const allBut = (left: number) => (index: number) => ({ lastPass: index === left ? 0 : 1 })

const cases: readonly BenchCase[] = [
  { name: 'two hours of songs heard', tier: 1, rowOf: played },
  { name: 'all by one artist', tier: 2, rowOf: index => ({ ...played(index), artists: [keyOf(5)] }) },
  { name: 'all of one title', tier: 3, rowOf: index => ({ ...played(index), title: keyOf(5) }) },
  {
    name: 'all heard in a week, which is the range',
    tier: 3,
    pass: 2,
    rangeMs: 7 * 24 * hourMs,
    heard: count,
    rowOf: () => ({ lastPass: 1 })
  },
  { name: 'one left in the pass', tier: 1, rowOf: allBut(count / 2) },
  { name: 'that one just heard, so the next pass', tier: 1, pass: 2, rowOf: allBut(heardRecently / 2) }
]

/** Measures choices among 10,000 tracks and returns a table. `now` returns milliseconds. */
export function benchPicks(now: () => number): string {
  const rows = cases.map(({ name, tier, pass = 1, rangeMs = 2 * hourMs, heard = heardRecently, rowOf }) => {
    const tracks = Array.from({ length: count }, (_, index) => ({ ...trackAt(index), ...rowOf(index) }))
    const library = makeLibrary(tracks, tracks.slice(0, heard), rangeMs)
    const choose = (slot: number) => {
      const place = { library, rowsBefore: [], rowsAfter: [], atMs, rejected: new Set<number>() }
      const decision = pick(place, seededRandom(7, slot))
      const picked = decision?.log.findLast(entry => entry.step === 'picked')
      return picked && 'tier' in picked ? picked : null
    }
    for (let slot = 0; slot < warmUpPicks; slot++) choose(slot)
    const times: number[] = []
    for (let slot = 0; slot < picks; slot++) {
      const startedAt = now()
      const picked = choose(slot)
      times.push(now() - startedAt)
      if (picked?.tier !== tier || picked.pass !== pass) throw new Error(`${name}: unexpected choice`)
    }
    times.sort((a, b) => a - b)
    const quantile = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(2)
    return [name, String(tier), quantile(0.5), quantile(0.99), quantile(1)]
  })
  const head = [`one choice of ${count.toLocaleString('en-GB')} tracks`, 'tier', 'p50 ms', 'p99 ms', 'max ms']
  return `${renderTable(head, rows).join('\n')}\n`
}

function trackAt(index: number): TrackRow {
  return {
    id: index + 1,
    media: index + 1,
    song: keyOf(index),
    title: keyOf(index),
    artists: [keyOf(index % 3_000)],
    durationMs: trackMs,
    lastPass: 0,
    lastAiredMs: 0
  }
}

/** A library whose plays are spread evenly over the range. */
function makeLibrary(rows: readonly TrackRow[], heard: readonly TrackRow[], rangeMs: number): Library {
  const plays = heard.map((row, index): HeardPlay => ({
    playlistId: 1,
    trackId: row.id,
    mediaId: row.media,
    pass: 1,
    requestId: null,
    occurrenceMs: null,
    song: row,
    isVisible: true,
    isInterrupt: false,
    startsAtMs: atMs - ((heard.length - index) * rangeMs) / (heard.length + 1),
    durationMs: trackMs
  }))
  return {
    rules: { zone: openZone('UTC'), seed: 7, ...newStationRules, duplicateRangeMs: rangeMs },
    playlists: [{ id: 1, name: 'Rotation', ...newPlaylist, tracks: buildTracks(rows) }],
    past: { plays, older: new Map(), removed: [] },
    requests: []
  }
}
