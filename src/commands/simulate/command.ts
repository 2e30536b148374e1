import { writeFile } from 'node:fs/promises'

import { parseConfig } from '../../config.ts'
import { buildSimulationReport } from '../../model/autodj/simulation/report.ts'
import { playSourceName, type SimulatedStation, simulateUntil } from '../../model/autodj/simulation/run.ts'
import { addLocalDays, getTimeZone, parseDayNumber } from '../../model/autodj/time-zone.ts'
import { type CommandContext, reportOperatorErrors } from '../../platform/process/command-context.ts'
import { toAbsolutePath } from '../../platform/process/command-line.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { assertPostgresUsable } from '../../stores/db/connections/check-postgres.ts'
import { openSql } from '../../stores/db/sql.ts'
import { findRunningServices } from '../../stores/embedded/data-dir.ts'
import { simulateHelpText, parseSimulateArguments, type SimulateArguments } from './arguments.ts'
import { readDatabaseStation } from './database-station.ts'
import { buildExampleStation } from './example-station.ts'
import { explainPlay } from './explain-play.ts'
import { renderSimulationPlot } from './plot.ts'
import { renderSimulationReport } from './report-text.ts'

/** The week in which European clocks go forward. */
const exampleFrom = '2026-03-23'
const exampleZone = 'Europe/Berlin'

/** Simulates a station. Exit code 0: all aims are met, 1: an aim is missed, 2: operator error. */
export function simulateCommand(context: CommandContext): Promise<number> {
  return reportOperatorErrors(context, 2, async () => {
    const parsed = parseSimulateArguments(context.args)
    if (parsed) return runSimulation(await openStation(parsed, context), parsed, context)
    context.stdout.write(simulateHelpText)
    return 0
  })
}

async function openStation(parsed: SimulateArguments, { env }: CommandContext): Promise<SimulatedStation> {
  const { station, seed, fromDay } = parsed
  if (station === null) {
    const zone = parsed.zone ?? getTimeZone(exampleZone)
    return buildExampleStation(
      zone,
      seed ?? 1,
      zone.instant(fromDay ?? parseDayNumber(exampleFrom), 0, 'first')
    )
  }
  const config = parseConfig(env)
  const url = config.DATABASE_URL ?? (await findRunningServices(config.DATA_DIR))?.databaseUrl
  if (!url)
    throw new OperatorError('Cuewire is not running here: run npm start, or set DATABASE_URL to its database')
  const sql = openSql(url, { max: 1, name: 'simulate' })
  try {
    await assertPostgresUsable(url)
    return await readDatabaseStation(sql, station, Date.now(), parsed)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function runSimulation(
  { name, start, songName }: SimulatedStation,
  { days, svg, json, log }: SimulateArguments,
  { env, stdout }: CommandContext
): Promise<number> {
  const save = (path: string, text: string) => write(toAbsolutePath({ env }, path), path, text)
  const { zone } = start.library.rules
  const startedAt = performance.now()
  const run = simulateUntil(start, addLocalDays(zone, start.fromMs, days))
  const wallMs = performance.now() - startedAt
  const { playlists } = run.library
  const report = buildSimulationReport(name, run)
  if (svg !== null) await save(svg, renderSimulationPlot(name, run))
  if (json !== null) {
    const plays = run.plays.map(each => ({
      ...each,
      playlist: playSourceName(playlists, each),
      song: songName(each.play?.mediaId ?? null)
    }))
    await save(json, `${JSON.stringify({ ...report, plays })}\n`)
  }
  if (log) {
    const firstDayEndsMs = addLocalDays(zone, start.fromMs, 1)
    const firstDay = run.plays.filter(({ startsAtMs }) => startsAtMs < firstDayEndsMs)
    for (const each of firstDay) stdout.write(`${explainPlay(each, playlists, zone, songName).join('\n')}\n`)
    stdout.write('\n')
  }
  stdout.write(renderSimulationReport(report, zone, wallMs))
  return report.aims.every(({ isMet }) => isMet) ? 0 : 1
}

async function write(file: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new OperatorError(`cannot write ${JSON.stringify(path)}: ${describeError(error)}`, { cause: error })
  }
}
