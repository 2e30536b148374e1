import { OperatorError } from './errors.ts'

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

/** Runs a command. Prints an `OperatorError` on one line and returns `exitCode`; rethrows any other error. */
export async function reportOperatorErrors(
  { stderr }: CommandContext,
  exitCode: number,
  command: () => Promise<number>
): Promise<number> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    stderr.write(`${error.message}\n`)
    return exitCode
  }
}
