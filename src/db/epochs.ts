import type { Sql } from './sql.ts'

/** The current epochs of stations by their ids, without those that are gone and those that were never shown. */
export async function readEpochs(
  sql: Sql,
  stationIds: readonly number[]
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; epoch: string }[]>`
    select id, epoch from stations
      where id = any(${[...stationIds]}::bigint[]) and epoch <> '' and deleted_at is null`
  return new Map(rows.map(({ id, epoch }) => [id, epoch]))
}
