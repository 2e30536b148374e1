import { formatWithOptions } from 'node:util'

import { type Logger as PinoLogger, type LoggerOptions, pino, stdSerializers } from 'pino'

import { openOutages, type Outages } from './outages.ts'

export type { Logger } from 'pino'

/** Paths of values that are redacted. */
const secrets = [
  'key',
  'password',
  'token',
  'url',
  '*.key',
  '*.password',
  '*.token',
  'req.headers["x-api-key"]'
]

/** The keys that each line has; in a line of JSON no key may occur twice. */
const ownKeys: readonly string[] = ['level', 'time', 'pid', 'hostname', 'name', 'msg']

/**
 * Opens the log of a process: readable lines on a terminal, else one JSON object per line, to `stream` or the standard
 * output. A failure that an outage of a store explains is not logged: see `outages.ts`.
 */
export async function openLog(
  name: string,
  level: string,
  stream?: NodeJS.WritableStream
): Promise<{ readonly log: PinoLogger; readonly outages: Outages }> {
  const outages = openOutages(() => log)
  const options: LoggerOptions = {
    name,
    level,
    redact: { paths: secrets, censor: '[secret]' },
    serializers: { err: renderError },
    hooks: {
      logMethod(given, method) {
        const [details, message, ...others] = given
        if (isObject(details)) {
          if (outages.includes(details instanceof Error ? details : details['err'])) return
          if (!(details instanceof Error))
            return method.call(this, renameOwnKeys(details), message, ...others)
        }
        method.apply(this, given)
      }
    }
  }
  const log: PinoLogger = await openPino(options, stream)
  return { log, outages }
}

async function openPino(
  options: LoggerOptions,
  stream: NodeJS.WritableStream | undefined
): Promise<PinoLogger> {
  if (stream !== undefined) return pino(options, stream)
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(
    options,
    pretty({
      sync: true,
      ignore: 'pid,hostname,name,station,play',
      translateTime: 'HH:MM:ss',
      singleLine: true,
      customColors: 'info:green'
    })
  )
}

/**
 * Leaves out what ioredis adds to errors: the arguments of the command, one of which may be a password, and the other
 * errors of its pipeline.
 */
function renderError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { command, previousErrors: _others, ...shown } = stdSerializers.err(error)
  if (error instanceof AggregateError) shown['aggregateErrors'] = error.errors.map(renderError)
  return isObject(command) ? { ...shown, command: command['name'] } : shown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Renames details that are called as a key of each line: `name` becomes `name_`. */
function renameOwnKeys(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!ownKeys.some(key => key in details)) return details
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [ownKeys.includes(key) ? `${key}_` : key, value])
  )
}

/** Texts that were logged are remembered up to this number. */
const maxTexts = 100

/**
 * Logs what packages write to the console, as warnings; each text once, because some repeat it for each connection.
 */
export function redirectConsoleToLog(log: Pick<PinoLogger, 'warn'>): void {
  const texts = new Set<string>()
  const write = (...parts: unknown[]) => {
    const text = formatWithOptions({ colors: false, breakLength: Infinity }, ...parts)
    if (texts.has(text) || texts.size >= maxTexts) return
    texts.add(text)
    log.warn({ text }, 'output of a package')
  }
  for (const method of ['debug', 'log', 'info', 'warn', 'error'] as const) console[method] = write
}

const periodMs = 10_000
/** Lines per period: an outage concerns many things at once. */
const linesPerPeriod = 20

/**
 * Returns a function that returns whether one more line may be logged now. `report` gets the number of lines that a
 * period has left out.
 */
export function openLineLimit(report: (leftOut: number) => void): (nowMs: number) => boolean {
  let periodEndsAtMs = 0
  let lines = 0
  return nowMs => {
    if (nowMs >= periodEndsAtMs) {
      if (lines > linesPerPeriod) report(lines - linesPerPeriod)
      periodEndsAtMs = nowMs + periodMs
      lines = 0
    }
    return ++lines <= linesPerPeriod
  }
}
