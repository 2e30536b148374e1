import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'

import type { CommandContext } from '../runtime/command-context.ts'
import { OperatorError } from '../runtime/errors.ts'

type OptionTypes = NonNullable<ParseArgsConfig['options']>

/** Parses the command line. Throws an `OperatorError` with the usage. */
export function parseWords<Options extends OptionTypes>(
  args: readonly string[],
  options: Options,
  usage: string
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    // The first sentence names the problem; the others are about escaping.
    throw usageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error), usage)
  }
}

export function usageError(problem: string, usage: string): OperatorError {
  return new OperatorError(`${problem.replace(/\s+/g, ' ').replace(/\.$/, '')}; ${usage}`)
}

/** npm changes to the project folder; relative paths start at the folder it was called in. */
export const toAbsolute = ({ env }: Pick<CommandContext, 'env'>, path: string): string =>
  resolve(env['INIT_CWD'] ?? '', path)

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** Renders `1.2 GB`. */
export function renderBytes(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1_000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power] ?? ''}`
}
