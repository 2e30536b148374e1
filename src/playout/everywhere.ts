import type { Sql, Tx } from '../db/sql.ts'
import { publishMany } from './publish.ts'
import type { PlayoutServices } from './services.ts'

/** Where the number of the newest fact that all stations show is kept. */
const counter = 'shown everywhere'

const chunk = 200
const patienceMs = 5_000

/**
 * Counts a fact that all stations show, as part of its transaction. It touches no station: thousands of rows that are
 * locked until a commit would hold up everybody else.
 */
export async function countEverywhere(tx: Tx): Promise<void> {
  await tx`
    insert into settings (name, value) values (${counter}, '1')
    on conflict (name) do update set value = (settings.value::bigint + 1)::text`
}

/** Gives every station that has not seen the newest of these facts a new revision, and tells which. */
export async function markEverywhere(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with newest as (select value::bigint as number from settings where name = ${counter}), behind as (
      select s.id from stations s, newest where s.everywhere < newest.number order by s.id for no key update of s
    )
    update stations s set revision = revision + 1, station_revision = revision + 1, everywhere = newest.number
    from newest, behind where s.id = behind.id returning s.id`
  return rows.map(({ id }) => id)
}

const waiting = new WeakMap<
  PlayoutServices['redis'],
  { running: Promise<void>; next: Promise<void> | null }
>()

/**
 * Shows a committed fact on all stations; many that come at once are shown together. The first stations follow at
 * once, what takes longer than a few seconds is left to the sweep, as is everything while a store is away.
 */
export async function showEverywhere(services: PlayoutServices): Promise<void> {
  const known = waiting.get(services.redis)
  if (!known) return begin()
  known.next ??= known.running.then(begin)
  return known.next

  async function begin(): Promise<void> {
    const entry = { running: markAndPublish(services), next: null }
    waiting.set(services.redis, entry)
    await entry.running
    if (waiting.get(services.redis) === entry && entry.next === null) waiting.delete(services.redis)
  }
}

/** Never rejects. */
async function markAndPublish(services: PlayoutServices): Promise<void> {
  try {
    const ids = await markEverywhere(services.sql)
    const endMs = Date.now() + patienceMs
    for (let start = 0; start < ids.length && Date.now() < endMs; start += chunk)
      await publishMany(services, ids.slice(start, start + chunk))
  } catch (error) {
    services.log.warn({ err: error }, 'live states not updated yet')
  }
}
