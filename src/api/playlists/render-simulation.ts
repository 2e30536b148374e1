import { joinPlaysToBlocks } from '../../model/autodj/simulation/blocks.ts'
import { findMissedAims, missedAimCodes } from '../../model/autodj/simulation/missed-aims.ts'
import { buildSimulationReport } from '../../model/autodj/simulation/report.ts'
import type { SimulationRun } from '../../model/autodj/simulation/run.ts'
import { type ScheduleWarning, scheduleWarningCodes } from '../../model/autodj/simulation/warnings.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { exactObject, namedSchema } from '../core/schemas.ts'

/** Maximum number of blocks in a response. */
const maxBlocks = 5_000

const int64 = { type: 'integer', format: 'int64' } as const
const playlistId = {
  type: ['integer', 'null'],
  format: 'int64',
  description: 'Null: the station. Negative: a new playlist, by its position in the body (-1, -2, ...).'
}
const listOf = (items: JsonSchema) => ({ type: 'array', items })

/** The schema of a simulation of a schedule. */
export const scheduleSimulationSchema = namedSchema(
  'ScheduleSimulation',
  'What a schedule would play.',
  exactObject({
    timezone: { type: 'string' },
    from: { ...int64, description: 'Unix seconds at which the simulation starts.' },
    until: { ...int64, description: 'Unix seconds at which it ends.' },
    is_complete: {
      type: 'boolean',
      description: 'Whether it covers the whole period. It ends early if it takes too long.'
    },
    plays: { type: 'integer' },
    silent_seconds: { type: 'integer' },
    blocks: {
      ...listOf(
        exactObject({
          playlist_id: { ...playlistId, description: 'Null: a request, a manual play or silence.' },
          name: { type: 'string', description: 'The playlist, or request, manual or silence.' },
          from: int64,
          until: int64,
          songs: { type: 'integer' }
        })
      ),
      description: `Consecutive songs of one playlist, at most ${maxBlocks} blocks.`
    },
    has_more_blocks: { type: 'boolean' },
    playlists: listOf(
      exactObject({
        playlist_id: playlistId,
        name: { type: 'string' },
        plays: { type: 'integer' },
        seconds: { type: 'integer', description: 'Airtime.' },
        songs_played: { type: 'integer' },
        songs: { type: 'integer' },
        overruns: { type: 'integer', description: 'Plays that end after their scheduled period.' },
        longest_overrun: { type: 'integer', description: 'Seconds.' }
      })
    ),
    aims: listOf(
      exactObject({ name: { type: 'string' }, measured: { type: 'string' }, is_met: { type: 'boolean' } })
    ),
    missed: listOf(
      exactObject({
        playlist_id: playlistId,
        code: { type: 'string', enum: missedAimCodes },
        message: { type: 'string' }
      })
    ),
    warnings: listOf(
      exactObject({
        playlist_id: playlistId,
        code: { type: 'string', enum: scheduleWarningCodes },
        is_never_played: {
          type: 'boolean',
          description: 'Whether the playlist does not play because of it.'
        },
        message: { type: 'string' }
      })
    )
  })
)

interface SimulationResult {
  readonly run: SimulationRun
  readonly isComplete: boolean
  readonly warnings: readonly ScheduleWarning[]
}

const seconds = (ms: number) => Math.floor(ms / 1_000)

/** Renders a simulation, with the report of `npm run simulate`. */
export function renderSimulation({ run, isComplete, warnings }: SimulationResult) {
  const report = buildSimulationReport('', run)
  const blocks = joinPlaysToBlocks(run)
  const { totals, aims } = report
  return {
    timezone: report.timezone,
    from: seconds(run.fromMs),
    until: seconds(run.untilMs),
    is_complete: isComplete,
    plays: totals.plays,
    silent_seconds: seconds(totals.silentMs),
    blocks: blocks.slice(0, maxBlocks).map(block => ({
      playlist_id: block.playlistId,
      name: block.name,
      from: seconds(block.fromMs),
      until: seconds(block.untilMs),
      songs: block.songs
    })),
    has_more_blocks: blocks.length > maxBlocks,
    playlists: totals.playlists.map(each => ({
      playlist_id: each.playlistId,
      name: each.name,
      plays: each.plays,
      seconds: seconds(each.airtimeMs),
      songs_played: each.tracksHeard,
      songs: each.tracks,
      overruns: each.overruns,
      longest_overrun: seconds(each.longestOverrunMs)
    })),
    aims: aims.map(({ name, measured, isMet }) => ({ name, measured, is_met: isMet })),
    missed: findMissedAims(report).map(({ playlistId: id, code, message }) => ({
      playlist_id: id,
      code,
      message
    })),
    warnings: warnings.map(({ playlistId: id, code, isNeverPlayed, message }) => ({
      playlist_id: id,
      code,
      is_never_played: isNeverPlayed,
      message
    }))
  }
}
