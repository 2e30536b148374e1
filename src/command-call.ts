import { OperatorError } from './errors.ts'

/** What a command of the program is called with, and where it tells. */
export interface CommandCall {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** The call of this process. */
export const callOfProcess: CommandCall = {
  args: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr
}

/** Tells an `OperatorError` in one line, with `exitCode`; any other error is a fault of the program. */
export async function tellFaults(
  { stderr }: CommandCall,
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
