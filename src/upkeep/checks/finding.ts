import { AdvisedError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'

/** The result of one check. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped'
  /** What was found. */
  readonly message: string
  /** What to do about a warning or problem. */
  readonly advice?: string
}

export const okFinding = (check: string, message: string): Finding => ({ check, status: 'ok', message })

export const skippedFinding = (check: string, message: string): Finding => ({
  check,
  status: 'skipped',
  message
})

export const warningFinding = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warning',
  message,
  advice
})

export const problemFinding = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'problem',
  message,
  advice
})

/** The problem of an error. `advice` is for an error that has none. */
export const toProblemFinding = (check: string, error: unknown, advice: string): Finding =>
  error instanceof AdvisedError
    ? problemFinding(check, error.problem, error.advice)
    : problemFinding(check, describeError(error), advice)

const marks: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok     ',
  warning: 'WARNING',
  problem: 'PROBLEM',
  skipped: 'skipped'
}

/** Renders a line for each finding, with the advice below it, and a summary. */
export function renderFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, status, message, advice }) => [
    `${marks[status]}  ${check.padEnd(width)}  ${message}`,
    ...(advice === undefined ? [] : [`${' '.repeat(marks.ok.length + width + 4)}${advice}`])
  ])
  const count = (status: Finding['status']) => findings.filter(each => each.status === status).length
  const [problems, warnings] = [count('problem'), count('warning')]
  lines.push(
    '',
    `${problems} problem${problems === 1 ? '' : 's'}, ${warnings} warning${warnings === 1 ? '' : 's'}`
  )
  return `${lines.join('\n')}\n`
}
