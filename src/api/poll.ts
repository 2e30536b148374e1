import { integer, text } from '../fields/field.ts'
import { filtersOf } from './filters.ts'

/** What a long poll asks for. `epoch` null: the one that is there. */
export interface Poll {
  readonly waitMs: number
  readonly since: number
  readonly epoch: string | null
}

const filters = filtersOf({
  wait: integer({
    min: 0,
    max: 60,
    about: 'Seconds to wait for an offset above `since`. Without `since` nothing is waited for.'
  }),
  since: integer({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    about: 'The offset that the caller has, from `X-Cuewire-Offset`.'
  }),
  epoch: text({ max: 255, about: 'The epoch that the offset belongs to, from `X-Cuewire-Epoch`.' })
})

/** The query parameters of a long poll, with their schemas. */
export const pollParameters = filters.schemas

/** Reads the query of a long poll; null: whatever there is is asked for. Throws a 400 that names the parameter. */
export function parsePoll(query: URLSearchParams): Poll | null {
  if (query.size === 0) return null
  const { wait = 0, since, epoch } = filters.parse(query)
  return since === undefined ? null : { waitMs: wait * 1000, since, epoch: epoch ?? null }
}
