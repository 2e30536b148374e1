import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { onTestFinished } from 'vitest'

import { wordsFor } from './compiled-program.ts'
import { adminKey } from './program.ts'
import { shared } from './worker-process.ts'

/** One line of a log. */
interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [key: string]: unknown
}

/**
 * Starts a process until the end of the test. Returns the lines of its log, the same as text, and other output, which
 * grow.
 */
export async function startLogged(entry: string, variables: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, wordsFor(entry), {
    env: {
      ...shared,
      PATH: process.env['PATH'],
      LOG_LEVEL: 'info',
      SLOW_LOG_MS: '0',
      ADMIN_API_KEY: adminKey,
      ...variables
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  const lines: LogLine[] = []
  const texts: string[] = []
  const other: string[] = []
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('no pipes')
  createInterface({ input: stdout }).on('line', text => {
    if (text.startsWith('{')) {
      texts.push(text)
      lines.push(JSON.parse(text))
    } else other.push(text)
  })
  createInterface({ input: stderr }).on('line', text => void other.push(text))
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return { lines, texts, other }
}
