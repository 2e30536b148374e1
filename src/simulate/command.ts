import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { dateOf, dayOf, minuteMs, openZone, type Zone } from '../autodj/zone.ts'
import { parseConfig } from '../config.ts'
import { openSql } from '../db/sql.ts'
import { type CommandContext, reportOperatorErrors } from '../embedded/command-context.ts'
import { findRunningServices } from '../embedded/data-dir.ts'
import { OperatorError } from '../runtime/errors.ts'
import { reasonOf } from '../runtime/store-errors.ts'
import { checkPostgres } from '../store-checks.ts'
import { benchPicks } from './bench.ts'
import { exampleStation, readDatabaseStation } from './database-station.ts'
import { explain } from './explain.ts'
import { renderPlot } from './plot.ts'
import { renderReport } from './report-text.ts'
import { reportOf } from './report.ts'
import { runUntil, type SimulatedStation } from './run.ts'
import { nameOf } from './starts.ts'

/** The week in which European clocks go forward. */
const exampleFrom = '2026-03-23'
const exampleZone = 'Europe/Berlin'

/**
 * Simulates a station. Gives the exit code: 0 when all aims are met, 1 when one is missed; problems of the
 * command itself are 2.
 */
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

/** What `npm run simulate` was asked for; null where nothing was said. */
interface SimulateArguments {
  /** Id or short name; null is the example station. */
  readonly station: string | null
  readonly days: number
  /** The local date on which it begins, as days since 1970-01-01. */
  readonly fromDay: number | null
  readonly zone: Zone | null
  readonly seed: number | null
  readonly svg: string | null
  readonly json: string | null
  readonly log: boolean
  readonly bench: boolean
}

export const help = `usage: npm run simulate -- [--station STATION] [--days N] [--from DATE] [--timezone ZONE] [--seed N]
                             [--svg FILE] [--json FILE] [--log]
       npm run simulate -- --bench

Plays what a station would play, in a few seconds, and reports how its schedule came out. Nothing is written but the files
that are named. Exit code 1 says that an aim was missed; the last line names it.

  --station   id or short name of a station; without it a made-up one with 5,000 tracks in 12 playlists.
              The simulation goes on from what the station has on air and in its queue
  --days      how many days, 1 to 31; default 7
  --from      the date on which it begins at midnight, YYYY-MM-DD, with an empty queue; default now, and 2026-03-23 for
              the made-up station: the week in which European clocks go forward
  --timezone  the time zone, such as Europe/Berlin (the default of the made-up station), instead of the station's own
  --seed      a number from 0 to 2147483647 for another course of chance; default the station's own, else 1
  --svg       a file for a picture of the days
  --json      a file for the report and all plays
  --log       say of each play of the first day why it was chosen
  --bench     measure how long one choice takes among 10,000 tracks, and nothing else
  --help      show this

The database is the one of DATABASE_URL, else that of the Cuewire that runs here.
`

const options = {
  station: { type: 'string' },
  days: { type: 'string' },
  from: { type: 'string' },
  timezone: { type: 'string' },
  seed: { type: 'string' },
  svg: { type: 'string' },
  json: { type: 'string' },
  log: { type: 'boolean' },
  bench: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
} as const

/**
 * Reads the command line; null asks for help. Throws an `OperatorError` that tells every problem, a line
 * each.
 */
export function parseSimulateArguments(args: readonly string[]): SimulateArguments | null {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true
  })
  const texts = new Map<string, string>()
  const switches = new Set<string>()
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${JSON.stringify(token.value)} belongs to no option`)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const known = Object.entries(options).find(([each]) => each === name)?.[1]
    if (!known) problems.push(`there is no option ${rawName}`)
    else if (known.type === 'boolean') {
      if (value !== undefined) problems.push(`${rawName} takes no value`)
      switches.add(name)
    } else if (!value || (value.startsWith('-') && !token.inlineValue))
      problems.push(`${rawName} needs a value`)
    else texts.set(name, value)
  }
  const read = <Value>(
    name: string,
    parse: (text: string) => Value | null,
    problem: string
  ): Value | null => {
    const text = texts.get(name)
    if (text === undefined) return null
    const value = parse(text)
    if (value === null) problems.push(`--${name} ${JSON.stringify(text)} ${problem}`)
    return value
  }
  const text = (name: string) => texts.get(name) ?? null
  const request = {
    station: text('station'),
    days: read('days', wholeFrom(1, 31), 'is not a number of days from 1 to 31') ?? 7,
    fromDay: read('from', dateFrom, 'is not a date of the form YYYY-MM-DD'),
    zone: read('timezone', zoneOf, 'is not a time zone, such as Europe/Berlin'),
    seed: read('seed', wholeFrom(0, 2_147_483_647), 'is not a whole number from 0 to 2147483647'),
    svg: text('svg'),
    json: text('json'),
    log: switches.has('log'),
    bench: switches.has('bench')
  }
  if (switches.has('help')) return null
  if (request.bench && tokens.length > 1) problems.push('--bench goes with no other option')
  if (problems.length > 0)
    throw new OperatorError([...problems, 'npm run simulate -- --help lists the options'].join('\n'))
  return request
}

function wholeFrom(least: number, most: number) {
  return (text: string) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
    return value >= least && value <= most ? value : null
  }
}

function dateFrom(text: string): number | null {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? dayOf(text) : NaN
  // Some dates that do not exist are read as the next one that does.
  return Number.isNaN(day) || dateOf(day) !== text ? null : day
}

function zoneOf(name: string): Zone | null {
  try {
    return openZone(name)
  } catch {
    return null
  }
}
