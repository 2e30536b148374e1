import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { dayOf, minuteMs, openZone, type Zone } from '../autodj/zone.ts'
import { type CommandContext, reportOperatorErrors } from '../command-context.ts'
import { parseConfig } from '../config.ts'
import { openSql } from '../db/sql.ts'
import { findRunningServices } from '../embedded/data-dir.ts'
import { OperatorError } from '../errors.ts'
import { checkPostgres, reasonOf } from '../store-checks.ts'
import { help, parseSimulateArguments, type SimulateArguments } from './arguments.ts'
import { benchPicks } from './bench.ts'
import { readDatabaseStation } from './database-station.ts'
import { exampleStation } from './example-station.ts'
import { explain } from './explain.ts'
import { renderPlot } from './plot.ts'
import { renderReport } from './report-text.ts'
import { reportOf } from './report.ts'
import { runUntil } from './run.ts'
import { nameOf } from './starts.ts'
import type { SimulatedStation } from './station.ts'

/** The week in which European clocks go forward. */
const exampleFrom = '2026-03-23'
const exampleZone = 'Europe/Berlin'

/** Simulates a station. Gives the exit code: 0 when all aims are met, 1 when one is missed; problems of the command itself are 2. */
export function simulateCommand(call: CommandContext): Promise<number> {
  return reportOperatorErrors(call, 2, async () => runSimulation(call))
}

async function runSimulation(call: CommandContext): Promise<number> {
  const { args, stdout } = call
  const request = parseSimulateArguments([...args])
  if (request === null) {
    stdout.write(help)
    return 0
  }
  if (request.bench) {
    stdout.write(benchPicks(() => performance.now()))
    return 0
  }
  const station =
    request.station === null ? example(request) : await stationOf(request.station, request, call.env)
  return simulateStation(station, request, call)
}

function example({ zone: wished, seed, fromDay }: SimulateArguments): SimulatedStation {
  const zone = wished ?? openZone(exampleZone)
  const day = fromDay ?? dayOf(exampleFrom)
  return exampleStation(zone, seed ?? 1, zone.instant(day, 0, 'first'))
}

async function stationOf(
  name: string,
  request: SimulateArguments,
  env: CommandContext['env']
): Promise<SimulatedStation> {
  const config = parseConfig(env)
  const url = config.DATABASE_URL ?? (await findRunningServices(config.DATA_DIR))?.databaseUrl
  if (!url)
    throw new OperatorError('no Cuewire runs here: start it (npm start), or set DATABASE_URL to its database')
  const sql = openSql(url, { max: 1, name: 'simulate' })
  try {
    await checkPostgres(sql)
    return await readDatabaseStation(sql, name, Date.now(), request)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function simulateStation(
  { name, beginning, songName }: SimulatedStation,
  { days, svg, json, log }: SimulateArguments,
  { env, stdout }: CommandContext
): Promise<number> {
  // npm changes into the project folder; a path is meant from where it was called.
  const save = (path: string, text: string) => write(resolve(env['INIT_CWD'] ?? '', path), path, text)
  const { zone } = beginning.library.rules
  const { fromMs } = beginning
  const startedAt = performance.now()
  const run = runUntil(beginning, daysAfter(zone, fromMs, days))
  const wallMs = performance.now() - startedAt
  const report = reportOf(name, run)
  if (svg !== null) await save(svg, renderPlot(name, run))
  if (json !== null) {
    const plays = run.plays.map(each => ({
      ...each,
      playlist: nameOf(run.library.playlists, each),
      song: songName(each.play?.mediaId ?? null)
    }))
    await save(json, `${JSON.stringify({ ...report, plays })}\n`)
  }
  if (log) {
    const firstDay = run.plays.filter(({ startsAtMs }) => startsAtMs < daysAfter(zone, fromMs, 1))
    for (const each of firstDay)
      stdout.write(`${explain(each, run.library.playlists, zone, songName).join('\n')}\n`)
    stdout.write('\n')
  }
  stdout.write(renderReport(report, zone, wallMs))
  return report.aims.every(({ isMet }) => isMet) ? 0 : 1
}

/** The same time of the clock some days later, so that a day on which clocks change is a whole one. */
function daysAfter(zone: Zone, fromMs: number, days: number): number {
  const minutes = zone.minuteOfDay(fromMs)
  const hhmm = Math.floor(minutes / 60) * 100 + (minutes % 60)
  return zone.instant(zone.localDay(fromMs) + days, hhmm, 'first') + (fromMs % minuteMs)
}

async function write(file: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new OperatorError(`cannot write ${JSON.stringify(path)}: ${reasonOf(error)}`, { cause: error })
  }
}
