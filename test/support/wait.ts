import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The factor of all deadlines: machines of a CI service share their cores with others, and are late. Elsewhere
 * deadlines hold as they are written.
 */
export const patience = process.env['CI'] ? 3 : 1

/**
 * Calls the condition repeatedly, every 20 ms at first and every 150 ms later, until it returns a truthy value, and
 * returns that. At the deadline, times `patience`, it throws an error with the description and the last error of the
 * condition.
 */
export async function waitFor<Value>(
  condition: () => Value | PromiseLike<Value>,
  { deadlineMs, what }: { deadlineMs: number; what: string }
): Promise<Exclude<Awaited<Value>, false | null | undefined | '' | 0>> {
  const startedAt = Date.now()
  const deadline = startedAt + deadlineMs * patience
  let last: unknown
  for (;;) {
    try {
      const value = await condition()
      if (isGiven(value)) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() > deadline) {
      const why = last instanceof Error ? `: ${last.message}` : ''
      throw new Error(`waited ${deadlineMs * patience} ms in vain for ${what}${why}`, { cause: last })
    }
    await sleep(Math.min(150, 20 + (Date.now() - startedAt) / 10))
  }
}

function isGiven<Value>(value: Value): value is Exclude<Value, false | null | undefined | '' | 0> {
  return Boolean(value)
}
