import { execFile } from 'node:child_process'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

import type { CommandContext } from '../../src/platform/process/command-context.ts'
import { wordsFor } from './compiled-program.ts'
import { isDeep } from './tier.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The result of a command. */
interface CommandEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type Run = (env: Record<string, string>, ...args: string[]) => Promise<CommandEnd>

/** Runs a command in a child process, in the project folder, and waits for its end. */
export function processRunner(file: string): Run {
  return async (env, ...args) => {
    const { PATH = '', HOME = '' } = process.env
    const words = [...wordsFor(file), ...args]
    return new Promise(resolve => {
      const options = { cwd: root, env: { PATH, HOME, ...env }, timeout: 60_000 }
      execFile(process.execPath, words, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
      })
    })
  }
}

/**
 * Runs a command in this process, except in the deep tier: a process takes ten times the CPU time of most
 * commands.
 */
export function commandRunner(file: string, command: (call: CommandContext) => Promise<number>): Run {
  return isDeep ? processRunner(file) : async (env, ...args) => runInProcess(command, env, args)
}

async function runInProcess(
  command: (call: CommandContext) => Promise<number>,
  env: Record<string, string>,
  args: string[]
): Promise<CommandEnd> {
  const stdout = openText()
  const stderr = openText()
  const code = await command({ args, env, stdout: stdout.stream, stderr: stderr.stream })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function openText() {
  let text = ''
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      done()
    }
  })
  return { stream, text: () => text }
}
