import { pino, type Logger } from 'pino'

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

/** Opens the log of a process: readable lines on a terminal, else one JSON object per line. */
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
