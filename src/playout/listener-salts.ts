import { createHash, randomBytes } from 'node:crypto'

import type { Sql } from '../db/sql.ts'
import type { Counted } from './listener-sources.ts'
import type { Listener } from './listeners-known.ts'

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

/** The salts of the day of `nowMs` (Unix milliseconds) and of the days before, the newest first. Creates the salt of that day if there is none. */
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

/** The counts with the identities as they are stored: under the salt with which a listener is known as connected, else under the newest. */
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
