import { execFile, type ExecFileException } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** How a command is run. */
export interface CommandOptions {
  /** The command is killed after this long, which counts as a failure. */
  readonly deadlineMs: number
  readonly cwd?: string
  /** Variables beside ours. */
  readonly env?: Readonly<Record<string, string>>
  /** Kills the command when aborted. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a command, with messages in English, and returns what it wrote. Throws an `Error` with the command and
 * the problem it wrote to stderr when it fails or misses its deadline.
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  { deadlineMs, cwd, env, signal }: CommandOptions
): Promise<{ stdout: string; stderr: string }> {
  const running = promisify(execFile)(program, args, {
    cwd,
    env: { ...process.env, ...env, LC_ALL: 'C' },
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
    maxBuffer: 32 * 1024 * 1024,
    ...(signal ? { signal } : {})
  })
  return running.catch((error: ExecFileException) => {
    const late = error.killed ? `took longer than ${deadlineMs / 1_000} seconds` : ''
    const reason = late || problemIn(error.stderr ?? '') || error.message
    throw new Error(`${[program, args[0]].join(' ')}: ${reason}`, { cause: error })
  })
}

/**
 * The first line that is marked as an error or a warning the way apt does it, else the last line; empty if
 * there is none.
 */
export function problemIn(stderr: string): string {
  return /^[EW]: (.+)$/m.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1) ?? ''
}

/** Whether PATH leads to a program of this name. */
export async function isInPath(name: string): Promise<boolean> {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter(Boolean)) {
    if (await isExecutable(join(folder, name))) return true
  }
  return false
}

/** Whether this user may run the file. */
export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false
  )
}
