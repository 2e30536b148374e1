import { execFile, type ExecFileException } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

interface CommandOptions {
  /** The command is killed after this time, which counts as a failure. */
  readonly timeoutMs: number
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  /** Kills the command when aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Runs a command with English messages. Throws an `Error` with the command and its problem if it fails. */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  { timeoutMs, signal, ...where }: CommandOptions
): Promise<{ stdout: string; stderr: string }> {
  const running = promisify(execFile)(program, args, {
    ...where,
    env: { ...process.env, LC_ALL: 'C' },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 32 * 1024 * 1024,
    ...(signal ? { signal } : {})
  })
  return running.catch((error: ExecFileException) => {
    const timeout = error.killed ? `took longer than ${timeoutMs / 1_000} seconds` : ''
    const reason = timeout || findStderrProblem(error.stderr ?? '') || error.message
    throw new Error(`${[program, args[0]].join(' ')}: ${reason}`, { cause: error })
  })
}

/** The first line that apt marks as an error or warning, else the last line; empty if there is none. */
export function findStderrProblem(stderr: string): string {
  return /^[EW]: (.+)$/m.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1) ?? ''
}

/** Whether PATH has a program of this name. */
export async function isInPath(name: string): Promise<boolean> {
  for (const folder of pathFolders()) if (await isExecutable(join(folder, name))) return true
  return false
}

export const pathFolders = () => (process.env['PATH'] ?? '').split(':').filter(Boolean)

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false
  )
}
