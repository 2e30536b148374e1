import { maxShortNameLength, shortNameCharacters, shortNamePattern } from '../../model/station/short-name.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql, Tx } from './sql.ts'

const maxListed = 20

/** A station that an operator names on a command line, by its id or short name; null if there is none. */
export async function findStationForCommand(sql: Sql | Tx, name: string) {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : null
  const [station = null] = await sql<{ id: number; name: string; shortName: string }[]>`
    select id, name, short_name as "shortName" from stations
    where deleted_at is null and (id = ${id} or short_name = ${name})`
  return station
}

/** The error for an unknown station, with the short names of others. `advice` may follow in parentheses. */
export async function createUnknownStationError(
  sql: Sql | Tx,
  name: string,
  advice = ''
): Promise<OperatorError> {
  const others = await sql<{ shortName: string; total: number }[]>`
    select short_name as "shortName", count(*) over () as total from stations
    where deleted_at is null order by short_name limit ${maxListed}`
  const more = (others[0]?.total ?? 0) - others.length
  const known = others.map(({ shortName }) => shortName).join(', ') || 'none'
  const list = more > 0 ? `${known} and ${more} more` : known
  return new OperatorError(`there is no station ${JSON.stringify(name)}; known: ${list}${advice}`)
}

/** Throws an `OperatorError` for a text that cannot be a short name. */
export function assertShortName(text: string): void {
  if (text.length > maxShortNameLength || !shortNamePattern.test(text))
    throw new OperatorError(`${JSON.stringify(text)} cannot be a short name: use ${shortNameCharacters}`)
}
