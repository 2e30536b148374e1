import { secretNames } from '../scripts/variable-files.mjs'
import { configVariableNames } from './config.ts'
import { isSupervised } from './platform/process/children.ts'
import type { Logger } from './platform/runtime/log.ts'

const prefix = 'CUEWIRE_'
/** One mistake in five letters, so that short names are compared exactly. */
const lettersPerMistake = 5
const maxMistakes = 3
/** Shorter ones are those of other programs as well. Kubernetes sets `CUEWIRE_PORT` for a service `cuewire`. */
const minLength = 6
const maxNameLength = 64

const ownNames = [...configVariableNames, ...secretNames.map(name => `${name}_FILE`)]

/** A variable that is not set, and the one of the environment that was probably meant by it. */
export interface MistypedVariable {
  readonly given: string
  readonly meant: string
}

/**
 * Finds variables of an environment that nothing reads, and whose names are almost that of one of ours which is not
 * set: `DRAIN_SECOND`, `CUEWIRE_DRAIN_SECONDS`.
 */
export function findMistypedVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[] = ownNames
): readonly MistypedVariable[] {
  const unset = known.filter(name => !env[name])
  return Object.keys(env).flatMap(given => {
    if (!env[given] || given.length > maxNameLength || known.includes(given)) return []
    const name = given.toUpperCase()
    const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name
    const meant = unset.find(each => each.length >= minLength && isAlmost(bare, each))
    return meant === undefined ? [] : [{ given, meant }]
  })
}

/** Logs a warning for each mistyped variable of this process; `npm start` does it for the processes that it starts. */
export function warnOfMistypedVariables(log: Logger, env: NodeJS.ProcessEnv = process.env): void {
  if (isSupervised()) return
  for (const { given, meant } of findMistypedVariables(env))
    log.warn(`${given} is set and has no effect: ${meant} was probably meant`)
}

function isAlmost(given: string, known: string): boolean {
  const most = Math.min(maxMistakes, Math.floor(known.length / lettersPerMistake))
  return Math.abs(given.length - known.length) <= most && countMistakes(given, known) <= most
}

/** The number of letters to insert, delete, replace, or swap with their neighbor, to get from one text to the other. */
function countMistakes(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity
      )
    }
    beforeLast = last
    last = row
  }
  return last[other.length] ?? 0
}
