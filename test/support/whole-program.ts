import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { readProcessStart } from '../../src/stores/embedded/process-identity.ts'
import { allProcesses, descendantsOf, type ProcessRow } from './child-process.ts'
import { waitFor } from './wait.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The whole program, as started by `npm start`. */
export interface Program extends Disposable {
  /** The runner, which forwards signals and the exit code. */
  readonly runner: ChildProcess
  readonly output: { stdout: string; stderr: string }
  /**
   * The exit code, once all processes that inherited our pipes have ended: runner, main, server and workers.
   */
  readonly ended: Promise<number | null>
  /** The process of `src/main.ts`, which can be stopped without the runner. */
  readonly mainPid: () => Promise<number>
  /**
   * The pids below the runner whose command line contains the text, nearest first, without the guards of
   * services.
   */
  readonly pidsOf: (text: string) => Promise<number[]>
}

/** Starts the program with only these variables, because the test runner sets BASE_URL. */
export function startProgram(variables: Record<string, string>): Program {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env
  const runner = spawn(process.execPath, ['scripts/run.mjs', 'src/main.ts'], {
    cwd: root,
    env: { PATH, HOME, XDG_CACHE_HOME, ...variables },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  runner.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  runner.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const ended = new Promise<number | null>(resolve => runner.once('close', resolve))
  const pidsOf = async (text: string) => {
    const rows = await descendantsOf(runner.pid ?? 0)
    const isWanted = ({ command }: ProcessRow) => command.includes(text) && !command.includes('cuewire-guard')
    return rows.filter(isWanted).map(row => row.pid)
  }
  return {
    runner,
    output,
    ended,
    pidsOf,
    mainPid: () =>
      waitFor(async () => (await pidsOf('/src/main.js'))[0], {
        deadlineMs: 20_000,
        what: 'the main process'
      }),
    // The end of the runner is the end of the program.
    [Symbol.dispose]: () => void runner.kill('SIGKILL')
  }
}

/** Records all processes of a program, to check later that they have ended. */
export async function rememberAll({ runner }: Program): Promise<{ stillThere: () => Promise<ProcessRow[]> }> {
  const rows = await descendantsOf(runner.pid ?? 0)
  const known = await Promise.all(rows.map(async row => ({ row, start: await readProcessStart(row.pid) })))
  return {
    stillThere: async () => {
      const now = await Promise.all(
        known.map(
          async ({ row, start }) => start !== undefined && (await readProcessStart(row.pid)) === start
        )
      )
      return rows.filter((_, index) => now[index])
    }
  }
}

/** The processes whose command line contains this folder: the embedded services. */
export async function runningIn(folder: string): Promise<ProcessRow[]> {
  return (await allProcesses()).filter(row => row.command.includes(folder))
}
