import type { SimulationReport } from './report.ts'
import type { MeasuredStart } from './starts.ts'

export const missedAimCodes = ['late', 'never', 'too_close', 'too_rare', 'share', 'repeats'] as const

/** An aim that a playlist misses in a simulation; a `playlistId` of null stands for the whole station. */
export interface MissedAim {
  readonly playlistId: number | null
  readonly code: (typeof missedAimCodes)[number]
  readonly message: string
}

/** Returns the aims that are missed, by playlist. */
export function findMissedAims({ starts, shares, jingles, repeats }: SimulationReport): MissedAim[] {
  const ids = [...new Set(starts.map(({ playlistId }) => playlistId))]
  const avoidable = repeats.reduce((sum, each) => sum + each.avoidable, 0)
  return [
    ...ids.flatMap(id => findMissedStarts(starts.filter(({ playlistId }) => playlistId === id))),
    ...jingles.spacings.flatMap(({ playlistId, everySongs, plays, least, median }): MissedAim[] => {
      if (plays < 2) return []
      const aim = `It should play once per ${count(everySongs, 'song')}`
      if (least < everySongs)
        return [{ playlistId, code: 'too_close', message: `${aim}, but plays after ${least} at times.` }]
      if (median <= everySongs + 1) return []
      return [{ playlistId, code: 'too_rare', message: `${aim}, but plays once per ${median}.` }]
    }),
    ...shares.flatMap(({ playlistId, expected, measured, allowed }): MissedAim[] => {
      if (Math.abs(measured - expected) <= allowed) return []
      const message = `Its weight stands for ${percent(expected)} of the airtime of rotations; it gets ${percent(measured)}.`
      return [{ playlistId, code: 'share', message }]
    }),
    ...(avoidable === 0
      ? []
      : [
          {
            playlistId: null,
            code: 'repeats' as const,
            message: `${count(avoidable, 'song')} or artists are repeated too early, although others could play.`
          }
        ])
  ]
}

function findMissedStarts(starts: readonly MeasuredStart[]): MissedAim[] {
  const of = (verdict: MeasuredStart['verdict']) => starts.filter(start => start.verdict === verdict)
  const [first] = starts
  if (!first) return []
  const { playlistId, kind } = first
  const what = kind === 'hour' ? 'hour' : 'scheduled period'
  const [never, late] = [of('never'), of('late')]
  return [
    ...(never.length === 0
      ? []
      : [
          {
            playlistId,
            code: 'never' as const,
            message: `It misses ${never.length} of ${count(starts.length, what)}${describeCauses(never)}.`
          }
        ]),
    ...(late.length === 0
      ? []
      : [
          {
            playlistId,
            code: 'late' as const,
            message: `It starts late in ${late.length} of ${count(starts.length, what)}${describeCauses(late)}.`
          }
        ])
  ]
}

const maxCauses = 3

function describeCauses(starts: readonly MeasuredStart[]): string {
  const names = [...new Set(starts.flatMap(({ before }) => before))].slice(0, maxCauses)
  return names.length === 0 ? '' : `, after ${names.join(', ')}`
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
const percent = (share: number) => `${(share * 100).toFixed(0)} %`
