import { toOperatorError } from '../runtime/store-errors.ts'

/** Arguments, environment and output streams of a command. */
export interface CommandContext {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** The context of this process. */
export const processContext: CommandContext = {
  args: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr
}

/**
 * Runs a command. Prints an error that the operator can solve on one line and returns `exitCode`; rethrows any other
 * error.
 */
export async function reportOperatorErrors(
  { stderr }: CommandContext,
  exitCode: number,
  command: () => Promise<number>
): Promise<number> {
  try {
    return await command()
  } catch (error) {
    const known = toOperatorError(error)
    if (known === null) throw error
    stderr.write(`${known.message}\n`)
    return exitCode
  }
}

/** The same for a command that `signal` may abort: it then prints `interrupted: OUTCOME` and returns 130. */
export function reportInterruption(
  call: CommandContext,
  { signal, outcome }: { readonly signal: AbortSignal; readonly outcome: string },
  command: () => Promise<number>
): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    try {
      return await command()
    } catch (error) {
      if (!signal.aborted) throw error
      call.stderr.write(`interrupted: ${outcome}\n`)
      return 130
    }
  })
}
