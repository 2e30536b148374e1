import { parseArgs } from 'node:util'

import { formatDayNumber, findTimeZone, parseDayNumber } from '../../model/autodj/time-zone.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'

/** Arguments of `npm run simulate`; null: not given. */
export type SimulateArguments = Readonly<NonNullable<ReturnType<typeof parseSimulateArguments>>>

export const simulateHelpText = `usage: npm run simulate -- [--station STATION] [--days N] [--from DATE] [--timezone ZONE] [--seed N]
                             [--svg FILE] [--json FILE] [--log]

Simulates what a station will play and reports how well its schedule is kept. Writes only the files named by --svg and
--json. Exit code 1: an aim was missed; the last line names it.

  --station   id or short name of a station, continued from its current play and queue; default: an example station
              with 5,000 tracks in 12 playlists
  --days      number of days, 1 to 31; default 7
  --from      date (YYYY-MM-DD) at whose midnight the simulation starts, with an empty queue; default: now, or
              2026-03-23 for the example station: the week in which European clocks go forward
  --timezone  time zone, such as Europe/Berlin; default: that of the station, or Europe/Berlin for the example station
  --seed      random seed, 0 to 2147483647; default: that of the station, or 1 for the example station
  --svg       file for a chart of the days
  --json      file for the report and all plays
  --log       print why each play of the first day was chosen
  --help      show this help

Uses the database of DATABASE_URL, or that of the Cuewire that runs on this machine.
`

const valueOptions = ['station', 'days', 'from', 'timezone', 'seed', 'svg', 'json']
const options = {
  ...Object.fromEntries(valueOptions.map(name => [name, { type: 'string' } as const])),
  log: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
} as const

/** Parses the command line; null for --help. Throws an `OperatorError` with a line for every problem. */
export function parseSimulateArguments(args: readonly string[]) {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const texts = new Map<string, string>()
  const switches = new Set<string>()
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`unexpected argument ${JSON.stringify(token.value)}`)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    if (!Object.hasOwn(options, name)) problems.push(`unknown option ${rawName}`)
    else if (!valueOptions.includes(name)) {
      if (value !== undefined) problems.push(`${rawName} takes no value`)
      switches.add(name)
    } else if (!value || (value.startsWith('-') && !token.inlineValue))
      problems.push(`${rawName} needs a value`)
    else texts.set(name, value)
  }
  if (switches.has('help')) return null
  const parse = <Value>(name: string, read: (text: string) => Value | null, form: string): Value | null => {
    const text = texts.get(name)
    const value = text === undefined ? null : read(text)
    if (text !== undefined && value === null)
      problems.push(`--${name} must be ${form} (got ${JSON.stringify(text)})`)
    return value
  }
  const parsed = {
    /** Id or short name; null: the example station. */
    station: texts.get('station') ?? null,
    days: parse('days', wholeNumber(1, 31), 'a number from 1 to 31') ?? 7,
    /** The local date on which the simulation starts, as days since 1970-01-01. */
    fromDay: parse('from', readDate, 'a date of the form YYYY-MM-DD'),
    zone: parse('timezone', findTimeZone, 'a time zone, such as Europe/Berlin'),
    seed: parse('seed', wholeNumber(0, 2_147_483_647), 'a whole number from 0 to 2147483647'),
    svg: texts.get('svg') ?? null,
    json: texts.get('json') ?? null,
    log: switches.has('log')
  }
  if (problems.length > 0)
    throw new OperatorError([...problems, 'npm run simulate -- --help lists the options'].join('\n'))
  return parsed
}

function wholeNumber(least: number, most: number) {
  return (text: string) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
    return value >= least && value <= most ? value : null
  }
}

function readDate(text: string): number | null {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseDayNumber(text) : NaN
  // Date.parse reads some dates that do not exist as the next one that does.
  return Number.isNaN(day) || formatDayNumber(day) !== text ? null : day
}
