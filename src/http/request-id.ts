import { randomUUID } from 'node:crypto'

/** The id of a request in logs, errors and `X-Request-Id`: the caller's own if it is sane, else a new one. */
export function requestIdOf(given: string): string {
  return /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}
