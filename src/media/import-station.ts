import type { Sql } from '../db/sql.ts'
import { createStation } from '../db/stations.ts'
import { OperatorError } from '../errors.ts'

const shownStations = 20

/**
 * The id of the station an import is for, found by id or short name. It is made when `create` says so or when there
 * is no station at all; else an unknown one is an `OperatorError` that lists the known short names.
 */
export async function findOrCreateStation(sql: Sql, name: string, create: boolean): Promise<number> {
  const known = await findStation(sql, name)
  if (known !== null) return known
  const others = await sql<{ short_name: string; total: number }[]>`
    select short_name, count(*) over () as total from stations
      where deleted_at is null order by short_name limit ${shownStations}`
  if (!create && others.length > 0) {
    const names = others.map(row => row.short_name).join(', ')
    const more = (others[0]?.total ?? 0) - others.length
    throw new OperatorError(
      `there is no station ${JSON.stringify(name)}; known: ${names}${more > 0 ? ` and ${more} more` : ''} ` +
        '(--create makes a new one)'
    )
  }
  if (!/^(?=.*[a-z_-])[a-z0-9_-]{1,100}$/.test(name)) {
    throw new OperatorError(
      `${JSON.stringify(name)} cannot be a short name: use a-z, 0-9, _ and -, and not digits alone`
    )
  }
  const id = (await createStation(sql, { shortName: name, name })) ?? (await findStation(sql, name))
  if (id === null) throw new OperatorError(`the station ${JSON.stringify(name)} went away`)
  return id
}

async function findStation(sql: Sql, name: string): Promise<number | null> {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : null
  const [row] = await sql<{ id: number }[]>`select id from stations where id = ${id} or short_name = ${name}`
  return row?.id ?? null
}
