import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'

import { OperatorError } from '../runtime/operator-error.ts'
import type { CommandContext } from './command-context.ts'

/** The command line of a command: its usage in one line, and its options. */
export function openCommandLine<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options
) {
  /** The error of a wrong command line, in one line, with the usage. */
  function usageError(problem: string): OperatorError {
    return new OperatorError(`${problem.replace(/\s+/g, ' ').replace(/\.$/, '')}; ${usage}`)
  }

  return {
    usageError,
    /** Parses options and positional arguments. Throws an `OperatorError` with the usage. */
    parse: (args: readonly string[]) => {
      try {
        return parseArgs({ args: [...args], allowPositionals: true, options })
      } catch (error) {
        // The first sentence names the problem; the others are about escaping.
        throw usageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
      }
    }
  }
}

/**
 * Returns the absolute path of a path in the arguments. npm changes to the project folder; relative paths start at the
 * folder that it was called in.
 */
export const toAbsolutePath = ({ env }: Pick<CommandContext, 'env'>, path: string): string =>
  resolve(env['INIT_CWD'] ?? '', path)
