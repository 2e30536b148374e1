import { isInterruptingPlaylist, type Playlist } from '../library.ts'
import { measureRepeats, type TierRepeatCounts } from './repeats.ts'
import type { SimulationRun } from './run.ts'
import { measureStarts, type MeasuredStart, startVerdicts } from './starts.ts'
import {
  type JingleStatistics,
  measureJingles,
  measureAirtimeShares,
  measureTotals,
  type AirtimeShare
} from './totals.ts'

/** A goal that a schedule should meet. */
export interface SimulationAim {
  readonly name: string
  readonly measured: string
  readonly isMet: boolean
}

export type SimulationReport = ReturnType<typeof buildSimulationReport>

/** Measures a run and checks its aims. Times are Unix milliseconds. */
export function buildSimulationReport(station: string, run: SimulationRun) {
  const { library, fromMs, untilMs } = run
  const { rules, playlists } = library
  const starts = measureStarts(run)
  const repeats = measureRepeats(run)
  const shares = measureAirtimeShares(run)
  const jingles = measureJingles(run)
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
    totals: measureTotals(run),
    aims: [
      ...checkStarts(starts, playlists),
      checkRepeats(repeats),
      ...checkShares(shares),
      ...checkJingles(jingles)
    ]
  }
}

function checkStarts(starts: readonly MeasuredStart[], playlists: readonly Playlist[]): SimulationAim[] {
  const interrupting = new Set(playlists.filter(isInterruptingPlaylist).map(({ id }) => id))
  const groups = [
    ['programs start when the current track ends', 'window', false],
    ['hourly playlists start when the current track ends', 'hour', false],
    ['interrupting programs start to the second', 'window', true],
    ['hourly interrupts start to the second', 'hour', true]
  ] as const
  return groups.flatMap(([name, kind, isInterrupt]) => {
    const own = starts.filter(
      start => start.kind === kind && interrupting.has(start.playlistId) === isInterrupt
    )
    if (own.length === 0) return []
    const count = (verdict: MeasuredStart['verdict']) => own.filter(start => start.verdict === verdict).length
    const parts = startVerdicts
      .filter(verdict => count(verdict) > 0)
      .map(verdict => `${count(verdict)} ${verdict}`)
    const missed = count('late') + count('never')
    const rate = `${(((own.length - missed) / own.length) * 100).toFixed(1)} %`
    return { name, measured: `${rate}: ${parts.join(', ')}`, isMet: missed === 0 }
  })
}

function checkRepeats(repeats: readonly TierRepeatCounts[]): SimulationAim {
  const avoidable = repeats.reduce((sum, each) => sum + each.avoidable, 0)
  const name = 'no repeat within the range while another track is eligible'
  return { name, measured: `${avoidable} avoidable`, isMet: avoidable === 0 }
}

const differenceOf = ({ expected, measured }: AirtimeShare) => Math.abs(measured - expected)

function checkShares(shares: readonly AirtimeShare[]): SimulationAim[] {
  if (shares.length === 0) return []
  return [
    {
      name: 'rotations get their expected share of airtime',
      measured: `${Math.max(...shares.map(share => differenceOf(share) * 100)).toFixed(1)} points at most`,
      isMet: shares.every(share => differenceOf(share) <= share.allowed)
    }
  ]
}

function checkJingles({ inARow: others, besideHourly, spacings }: JingleStatistics): SimulationAim[] {
  const inARow = others + besideHourly
  const adjacent = { name: 'no jingle follows a jingle', measured: `${inARow} in a row`, isMet: inARow === 0 }
  if (spacings.length === 0) return [adjacent]
  return [
    adjacent,
    {
      name: 'playlists that count songs have enough songs between their plays',
      measured: spacings.map(({ least, everySongs }) => `${least} at least of ${everySongs}`).join(', '),
      isMet: spacings.every(({ plays, least, everySongs }) => plays < 2 || least >= everySongs)
    }
  ]
}
