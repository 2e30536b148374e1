import { createHash, randomBytes } from 'node:crypto'

import type { Sql, Tx } from '../../db/sql.ts'
import type { Counted } from './sources.ts'

/** A listener of a source, identified by a hash of address and user agent. */
export interface Listener {
  readonly source: string
  readonly identity: string
}

/** Listeners of a source that are identified; others are only counted. */
export const identitiesAtMost = 20_000

/** The known listeners of the counted sources. */
export async function readConnected(
  sql: Sql | Tx,
  stationId: number,
  matched: readonly Counted[]
): Promise<Listener[]> {
  if (matched.length === 0) return []
  return sql<Listener[]>`
    select source, identity from listeners
    where station_id = ${stationId} and left_at_ms is null
      and source = any(${matched.map(each => each.source.key)}::text[])`
}

/** Stores who connected and who left. A listener who returns has not left. */
export async function noteListeners(
  tx: Tx,
  stationId: number,
  { came, left }: Movement,
  nowMs: number
): Promise<void> {
  const pairs = (listeners: readonly Listener[]) => tx`
    unnest(${listeners.map(each => each.source)}::text[], ${listeners.map(each => each.identity)}::text[])
      as x(source, identity)`
  if (came.length > 0)
    await tx`
      insert into listeners (station_id, source, identity, since_ms)
      select ${stationId}, source, identity, ${nowMs} from ${pairs(came)}
      on conflict (station_id, source, identity) do update set since_ms = excluded.since_ms, left_at_ms = null`
  if (left.length > 0)
    await tx`
      update listeners l set left_at_ms = ${nowMs} from ${pairs(left)}
      where l.station_id = ${stationId} and l.source = x.source and l.identity = x.identity`
}

export interface Movement {
  readonly came: readonly Listener[]
  readonly left: readonly Listener[]
}

/** Who connected and who left since the last report. At a source without identities, all have left. */
export function movementOf(connected: readonly Listener[], matched: readonly Counted[]): Movement {
  const before = new Map<string, Set<string>>()
  for (const { source, identity } of connected) {
    const known = before.get(source)
    if (known) known.add(identity)
    else before.set(source, new Set([identity]))
  }
  const came: Listener[] = []
  const left: Listener[] = []
  const nobody: ReadonlySet<string> = new Set()
  for (const { source, count } of matched) {
    const was = before.get(source.key) ?? nobody
    const is = identified(count.identities ?? [])
    for (const identity of is) if (!was.has(identity)) came.push({ source: source.key, identity })
    for (const identity of was) if (!is.has(identity)) left.push({ source: source.key, identity })
  }
  return { came, left }
}

/** The identified listeners; of too many always the same ones, in whatever order they are reported. */
function identified(identities: readonly string[]): ReadonlySet<string> {
  const distinct = new Set(identities)
  if (distinct.size <= identitiesAtMost) return distinct
  return new Set([...distinct].toSorted().slice(0, identitiesAtMost))
}

/*
 * Who listens is stored as a hash with a salt of the day, so that nobody can try out which addresses listened: the salt is forgotten after two days.
 * A listener keeps the salt of the day on which they connected. One who stays for longer than the salt is taken for another listener then.
 */

const dayMs = 86_400_000
/** Today's salt, and those of so many days before. */
const formerSalts = 2

/** The newest first. */
export type Salts = readonly string[]

interface Known {
  readonly day: number
  readonly salts: Salts
}

const known = new WeakMap<Sql, Known>()

/**
 * The salts of the day of `nowMs` (Unix milliseconds) and of the days before, the newest first. Creates the
 * salt of that day if there is none.
 */
export async function readSalts(sql: Sql, nowMs: number): Promise<Salts> {
  const day = Math.floor(nowMs / dayMs)
  const before = known.get(sql)
  if (before?.day === day) return before.salts
  await sql`
    insert into listener_salts (day, salt) values (${day}, ${randomBytes(16).toString('base64url')})
    on conflict (day) do nothing`
  const rows = await sql<{ salt: string }[]>`
    select salt from listener_salts where day between ${day - formerSalts} and ${day} order by day desc`
  const salts = rows.map(({ salt }) => salt)
  known.set(sql, { day, salts })
  return salts
}

/** Forgets salts that nobody needs any more. Returns how many. */
export async function removeOldSalts(sql: Sql, nowMs: number): Promise<number> {
  const { count } =
    await sql`delete from listener_salts where day < ${Math.floor(nowMs / dayMs) - formerSalts}`
  return count
}

/**
 * The counts with the identities as they are stored: under the salt with which a listener is known as
 * connected, else under the newest.
 */
export function salted(matched: readonly Counted[], connected: readonly Listener[], salts: Salts): Counted[] {
  const stored = new Map<string, Set<string>>()
  for (const { source, identity } of connected) {
    const identities = stored.get(source) ?? new Set()
    stored.set(source, identities.add(identity))
  }
  return matched.map(({ source, count }) => {
    if (count.identities === undefined) return { source, count }
    const there = stored.get(source.key)
    const identities = count.identities.map(identity => {
      const newest = hashOf(salts[0] ?? '', identity)
      if (there === undefined || there.has(newest)) return newest
      for (const salt of salts.slice(1)) {
        const former = hashOf(salt, identity)
        if (there.has(former)) return former
      }
      return newest
    })
    return { source, count: { ...count, identities } }
  })
}

function hashOf(salt: string, identity: string): string {
  return createHash('sha256').update(`${salt}\n${identity}`).digest('base64url').slice(0, 22)
}
