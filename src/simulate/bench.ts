import type { Library, HeardPlay, Playlist } from '../autodj/library.ts'
import { pick } from '../autodj/pick.ts'
import { type TrackRow, tracksOf } from '../autodj/tracks.ts'
import { hourMs, minuteMs, openZone, randomOf } from '../autodj/zone.ts'
import { renderTable } from './report-text.ts'

/** What is chosen from, and what has to come of it. */
interface Case {
  readonly name: string
  readonly tier: number
  readonly pass: number
  readonly rangeMs: number
  /** How many of the tracks were heard within the range. */
  readonly heard: number
  readonly rowOf: (index: number) => Partial<TrackRow>
}

const heardLately = 36
const count = 10_000
const trackMs = 200_000
const atMs = Date.UTC(2026, 0, 9, 12)
const picksToWarm = 300
const picks = 2_000

/**
 * Measures single choices among 10,000 tracks, in the usual case and the worst ones; gives a table. `now` is
 * in milliseconds.
 */
export function benchPicks(now: () => number): string {
  const rows = cases().map(({ name, tier, pass, rangeMs, heard, rowOf }) => {
    const tracks = Array.from({ length: count }, (_, index) => ({ ...trackAt(index), ...rowOf(index) }))
    const library = libraryOf(tracks, tracks.slice(0, heard), rangeMs)
    const choose = (slot: number) => {
      const decision = pick({ library, ahead: [], behind: [], atMs, rejected: new Set() }, randomOf(7, slot))
      const picked = decision?.log.findLast(entry => entry.step === 'picked')
      return picked && 'tier' in picked ? picked : null
    }
    for (let slot = 0; slot < picksToWarm; slot++) choose(slot)
    const times: number[] = []
    for (let slot = 0; slot < picks; slot++) {
      const startedAt = now()
      const picked = choose(slot)
      times.push(now() - startedAt)
      if (picked?.tier !== tier || picked.pass !== pass) throw new Error(`${name} is not what it should be`)
    }
    times.sort((a, b) => a - b)
    const quantile = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(2)
    return [name, String(tier), quantile(0.5), quantile(0.99), quantile(1)]
  })
  const head = [`one choice of ${count.toLocaleString('en-GB')} tracks`, 'tier', 'p50 ms', 'p99 ms', 'max ms']
  return `${renderTable(head, rows).join('\n')}\n`
}

function cases(): Case[] {
  const twoHours = { rangeMs: 2 * hourMs, heard: heardLately }
  const played = (index: number) => ({ lastPass: index < heardLately ? 1 : 0 })
  return [
    { name: 'two hours of songs heard', tier: 1, pass: 1, ...twoHours, rowOf: played },
    {
      name: 'all by one artist',
      tier: 2,
      pass: 1,
      ...twoHours,
      rowOf: index => ({ ...played(index), artists: [keyOf(5)] })
    },
    {
      name: 'all of one title',
      tier: 3,
      pass: 1,
      ...twoHours,
      rowOf: index => ({ ...played(index), title: keyOf(5) })
    },
    {
      name: 'all heard in a week, which is the range',
      tier: 3,
      pass: 2,
      rangeMs: 7 * 24 * hourMs,
      heard: count,
      rowOf: () => ({ lastPass: 1 })
    },
    { name: 'one left in the pass', tier: 1, pass: 1, ...twoHours, rowOf: allBut(count / 2) },
    {
      name: 'that one just heard, so the next pass',
      tier: 1,
      pass: 2,
      ...twoHours,
      rowOf: allBut(heardLately / 2)
    }
  ]
}

const allBut = (left: number) => (index: number) => ({ lastPass: index === left ? 0 : 1 })

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

/** As large as the keys of real songs, which a map finds more slowly than small ones. */
const keyOf = (number: number) => (number + 1) * 274_877_906_951

/** What was heard, the last one just before the choice, evenly over the range. */
function libraryOf(rows: readonly TrackRow[], heard: readonly TrackRow[], rangeMs: number): Library {
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
  const playlist: Playlist = {
    id: 1,
    name: 'Rotation',
    type: 'default',
    source: 'songs',
    order: 'shuffle',
    weight: 3,
    isEnabled: true,
    isJingle: false,
    avoidsDuplicates: true,
    everySongs: 0,
    everyMinutes: 0,
    hourMinute: 0,
    options: new Set(),
    schedule: [],
    pass: 1,
    tracks: tracksOf(rows)
  }
  return {
    rules: {
      zone: openZone('UTC'),
      seed: 7,
      queueLength: 3,
      duplicateRangeMs: rangeMs,
      overlapMs: 0,
      requestThresholdMs: 15 * minuteMs,
      consecutiveRequests: 2,
      overrunMs: 10 * minuteMs,
      cutsBeforeSent: false
    },
    playlists: [playlist],
    past: { plays, older: new Map(), refused: [] },
    requests: []
  }
}
