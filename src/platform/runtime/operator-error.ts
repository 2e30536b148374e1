/** A problem that the operator can solve. Entry files print its message on one line and exit with 1. */
export class OperatorError extends Error {}

/** An `OperatorError` whose message is a problem and what to do about it, for callers that show them apart. */
export class AdvisedError extends OperatorError {
  readonly problem: string
  readonly advice: string

  constructor(problem: string, advice: string, options?: ErrorOptions) {
    super(`${problem}: ${advice}`, options)
    this.problem = problem
    this.advice = advice
  }
}

/** An error whose reason has been printed already: entry files only exit with 1. */
export class ReportedError extends Error {}
