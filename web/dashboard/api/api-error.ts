import * as v from 'valibot'

/** What was asked for and not given. Its message is for people. */
export class Refusal extends Error {
  /** The HTTP status; 0 where there was no answer that could be read. */
  readonly status: number
  /** Whether no key, or none that is valid, was sent. */
  readonly isStranger: boolean

  constructor(message: string, status = 0, isStranger = false) {
    super(message)
    this.status = status
    this.isStranger = isStranger
  }
}

const shape = v.object({ message: v.string(), type: v.optional(v.string(), '') })

/** What an answer says that is no success. `formatted_message` is HTML and left alone. */
export function refusalOf(status: number, body: unknown, retryAfter: string | null): Refusal {
  const { success, output } = v.safeParse(shape, body)
  if (!success) return new Refusal(`The server answered with an error (${status}).`, status)
  const seconds = Number(retryAfter)
  if (status === 429 && seconds > 0)
    return new Refusal(`Too many requests: try again in ${seconds} seconds.`, status)
  const { message, type } = output
  const isStranger = type === 'NotLoggedInException'
  if (status === 403 && !isStranger) return new Refusal('This key may not do that.', status)
  return new Refusal(message, status, isStranger)
}

/** Whatever was thrown, as something that can be shown. */
export function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('The server cannot be reached.')
}
