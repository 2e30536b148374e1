import type { Library, Play, Playlist } from '../autodj/library.ts'
import { pick } from '../autodj/pick.ts'
import { randomOf } from '../autodj/random.ts'
import { type TrackRow, tracksOf } from '../autodj/tracks.ts'
import { hourMs, minuteMs, openZone } from '../autodj/zone.ts'
import { renderTable } from './table.ts'

/** The tracks of one playlist from which one is chosen, and what was heard before. */
interface Case {
  readonly name: string
  readonly tier: number
  readonly pass: number
  readonly library: Library
}

const count = 10_000
const trackMs = 200_000
const atMs = Date.UTC(2026, 0, 9, 12)
const picksToWarm = 300
const picks = 2_000

/** Measures single choices among 10,000 tracks, in the usual case and the worst ones; gives a table. `now` is in milliseconds. */
export function benchPicks(now: () => number): string {
  const rows = cases().map(({ name, tier, pass, library }) => {
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
  const twoHours = 2 * hourMs
  const week = 7 * 24 * hourMs
  const heardLately = 36
  const heard = (index: number) => ({ lastPass: index < heardLately ? 1 : 0 })
  return [
    make('two hours of songs heard', 1, 1, twoHours, heardLately, trackRows(heard)),
    make(
      'all by one artist',
      2,
      1,
      twoHours,
      heardLately,
      trackRows(index => ({ ...heard(index), artists: [5] }))
    ),
    make(
      'all heard within the range',
      3,
      2,
      week,
      count,
      trackRows(() => ({ lastPass: 1 }))
    ),
    make('one left in the pass', 1, 1, twoHours, heardLately, trackRows(consumedBut(count / 2))),
    make(
      'that one just heard, so the next pass',
      1,
      2,
      twoHours,
      heardLately,
      trackRows(consumedBut(heardLately / 2))
    )
  ]
}

const consumedBut = (left: number) => (index: number) => ({ lastPass: index === left ? 0 : 1 })

function make(
  name: string,
  tier: number,
  pass: number,
  rangeMs: number,
  heard: number,
  rows: readonly TrackRow[]
): Case {
  return { name, tier, pass, library: libraryOf(rows, rows.slice(0, heard), rangeMs) }
}

function trackRows(partsOf: (index: number) => Partial<TrackRow>): TrackRow[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    media: index + 1,
    song: index + 1,
    title: index + 1,
    artists: [1 + (index % 3_000)],
    durationMs: trackMs,
    lastPass: 0,
    lastAiredMs: 0,
    ...partsOf(index)
  }))
}

/** What was heard, the last one just before the choice, evenly over the range. */
function libraryOf(rows: readonly TrackRow[], heard: readonly TrackRow[], rangeMs: number): Library {
  const plays = heard.map((row, index): Play => ({
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
      overrunMs: 10 * minuteMs
    },
    playlists: [playlist],
    past: { plays, older: new Map(), refused: [] },
    requests: []
  }
}
