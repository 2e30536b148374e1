import { pino, type Logger } from 'pino'

export type { Logger } from 'pino'

/** Paths whose values never reach a log line. */
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

/** Opens the log of a process: readable lines on a terminal, one JSON object per line anywhere else. */
export async function openLog(name: string, level: string): Promise<Logger> {
  const options = { name, level, redact: { paths: secrets, censor: '[secret]' } }
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
