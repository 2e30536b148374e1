import { interrupts, type Playlist } from '../autodj/library.ts'
import { type Jingles, jinglesOf } from './jingles.ts'
import { type Repeats, repeatsOf } from './repeats.ts'
import type { Run } from './run.ts'
import { type Share, sharesOf } from './shares.ts'
import { type Start, startsOf } from './starts.ts'
import { type Totals, totalsOf } from './totals.ts'

/** What a simulated time on air was like. Times are Unix milliseconds. */
export interface Report {
  readonly station: string
  readonly timezone: string
  readonly seed: number
  readonly fromMs: number
  readonly untilMs: number
  readonly duplicateRangeMs: number
  readonly starts: readonly Start[]
  readonly repeats: readonly Repeats[]
  readonly shares: readonly Share[]
  readonly jingles: Jingles
  readonly totals: Totals
  readonly aims: readonly Aim[]
}

/** What a schedule is held to. */
export interface Aim {
  readonly name: string
  readonly measured: string
  readonly isMet: boolean
}

/** Measures a run. */
export function reportOf(station: string, run: Run): Report {
  const { library, fromMs, untilMs } = run
  const { rules, playlists } = library
  const starts = startsOf(run)
  const repeats = repeatsOf(run)
  const shares = sharesOf(run)
  const jingles = jinglesOf(run)
  return {
    station,
    timezone: rules.zone.name,
    seed: rules.seed,
    fromMs,
    untilMs,
    duplicateRangeMs: rules.duplicateRangeMs,
    starts,
    repeats,
    shares,
    jingles,
    totals: totalsOf(run),
    aims: [
      ...aimsOfStarts(starts, playlists),
      aimOfRepeats(repeats),
      ...aimOfShares(shares),
      ...aimsOfJingles(jingles)
    ]
  }
}

function aimsOfStarts(starts: readonly Start[], playlists: readonly Playlist[]): Aim[] {
  const cutting = new Set(playlists.filter(interrupts).map(({ id }) => id))
  const groups = [
    ['programmes start within the track that is on air', 'window', false],
    ['identifications start within the track that is on air', 'hour', false],
    ['programmes that cut in start to the second', 'window', true],
    ['what cuts in every hour starts to the second', 'hour', true]
  ] as const
  return groups.flatMap(([name, kind, cuts]) => {
    const own = starts.filter(start => start.kind === kind && cutting.has(start.playlistId) === cuts)
    if (own.length === 0) return []
    const count = (verdict: Start['verdict']) => own.filter(start => start.verdict === verdict).length
    const parts = (['on time', 'behind others', 'late', 'never'] as const)
      .filter(verdict => count(verdict) > 0)
      .map(verdict => `${count(verdict)} ${verdict}`)
    const missed = count('late') + count('never')
    const rate = `${(((own.length - missed) / own.length) * 100).toFixed(1)} %`
    return { name, measured: `${rate}: ${parts.join(', ')}`, isMet: missed === 0 }
  })
}

function aimOfRepeats(repeats: readonly Repeats[]): Aim {
  const avoidable = repeats.reduce((sum, each) => sum + each.avoidable, 0)
  return {
    name: 'nothing is repeated inside the range while there is something else',
    measured: `${avoidable} avoidable`,
    isMet: avoidable === 0
  }
}

function aimOfShares(shares: readonly Share[]): Aim[] {
  if (shares.length === 0) return []
  const points = shares.map(({ expected, measured }) => Math.abs(measured - expected) * 100)
  return [
    {
      name: 'rotations have their share of airtime, within two points or what chance explains',
      measured: `${Math.max(...points).toFixed(1)} points at most`,
      isMet: shares.every(({ expected, measured, allowed }) => Math.abs(measured - expected) <= allowed)
    }
  ]
}

function aimsOfJingles({ inARow: others, besideHourly, spacings }: Jingles): Aim[] {
  const inARow = others + besideHourly
  const tooClose = spacings.filter(({ plays, least, everySongs }) => plays > 1 && least < everySongs)
  return [
    { name: 'no jingle follows a jingle', measured: `${inARow} in a row`, isMet: inARow === 0 },
    ...(spacings.length === 0
      ? []
      : [
          {
            name: 'songs between the plays of a playlist that counts them',
            measured: spacings
              .map(({ least, everySongs }) => `${least} at least of ${everySongs}`)
              .join(', '),
            isMet: tooClose.length === 0
          }
        ])
  ]
}
