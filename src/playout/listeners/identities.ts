import { createHash, randomBytes } from 'node:crypto'

import type { Sql, Tx } from '../../db/sql.ts'
import type { ReportedSource } from './sources.ts'

/** A listener of a source, identified by a hash of address and user agent. */
export interface IdentifiedListener {
  readonly source: string
  readonly identity: string
}

/** Listeners of a source that are identified; others are only counted. */
export const identitiesAtMost = 20_000

/** The known listeners of the counted sources. */
export async function readConnected(sql: Sql | Tx, stationId: number, matched: readonly ReportedSource[]) {
  if (matched.length === 0) return []
  return sql<IdentifiedListener[]>`
    select source, identity from listeners
    where station_id = ${stationId} and left_at_ms is null
      and source = any(${matched.map(each => each.source.key)}::text[])`
}

/** Stores connected and disconnected listeners. A listener who returns counts as connected. */
export async function recordListeners(tx: Tx, stationId: number, { came, left }: Movement, nowMs: number) {
  const pairs = (listeners: readonly IdentifiedListener[]) => tx`
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

/**
 * Who connected and disconnected since the last report. If a source reports no identities, all disconnected.
 */
export function movementOf(connected: readonly IdentifiedListener[], matched: readonly ReportedSource[]) {
  const before = identitiesBySource(connected)
  const came: IdentifiedListener[] = []
  const left: IdentifiedListener[] = []
  const nobody: ReadonlySet<string> = new Set()
  for (const { source, count } of matched) {
    const was = before.get(source.key) ?? nobody
    const is = identified(count.identities ?? [])
    for (const identity of is) if (!was.has(identity)) came.push({ source: source.key, identity })
    for (const identity of was) if (!is.has(identity)) left.push({ source: source.key, identity })
  }
  return { came, left }
}

type Movement = ReturnType<typeof movementOf>

function identitiesBySource(
  listeners: readonly IdentifiedListener[]
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const { source, identity } of listeners) {
    const identities = found.get(source) ?? new Set()
    found.set(source, identities.add(identity))
  }
  return found
}

/** The identified listeners. If there are too many, the same ones are chosen whatever their order. */
function identified(identities: readonly string[]): ReadonlySet<string> {
  const distinct = new Set(identities)
  if (distinct.size <= identitiesAtMost) return distinct
  return new Set([...distinct].toSorted().slice(0, identitiesAtMost))
}

/*
 * Listeners are stored as hashes with a daily salt that is deleted after two days, so that addresses cannot
 * be tried out. A listener keeps the salt of the day on which they connected; one who stays for longer counts
 * as another listener.
 */

const dayMs = 86_400_000
/** The number of older salts. */
const formerSalts = 2

/** Newest first. */
export type Salts = readonly string[]

const known = new WeakMap<Sql, { readonly day: number; readonly salts: Salts }>()

/**
 * Reads the salts of the day and of the days before, newest first. Creates that of the day if there is none.
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

/** Deletes expired salts. Returns the number. */
export async function removeOldSalts(sql: Sql, nowMs: number): Promise<number> {
  const { count } =
    await sql`delete from listener_salts where day < ${Math.floor(nowMs / dayMs) - formerSalts}`
  return count
}

/** Hashes identities with the salt under which a listener is stored as connected, else with the newest. */
export function saltIdentities(
  matched: readonly ReportedSource[],
  connected: readonly IdentifiedListener[],
  salts: Salts
) {
  const stored = identitiesBySource(connected)
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
