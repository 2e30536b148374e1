import { createHash, timingSafeEqual } from 'node:crypto'

import { type ScheduleItem, windowAt } from '../../autodj/schedule.ts'
import { openZone } from '../../autodj/zone.ts'
import type { Sql } from '../../db/sql.ts'
import { shownName, sourceUser } from '../../db/stations.ts'
import { sealingPurpose } from '../../fields/field.ts'
import { ownerOf } from '../../outbound/networks.ts'
import { ApiError } from '../../runtime/errors.ts'
import { verifyNoPassword, verifyPassword } from '../../security/passwords.ts'
import type { Secrets } from '../../security/secrets.ts'
import { openTokenBuckets } from '../core/token-buckets.ts'

/** What a streaming client sent, and the address it came from (empty: not known). */
export interface StreamerLogin extends Claim {
  readonly address: string
}

/** Who may go live. `streamerId` null: the user `source`. */
export interface AllowedStreamer {
  readonly username: string
  readonly displayName: string
  readonly streamerId: number | null
}

/** Wrong passwords, by station and address: so many at once, and one more every six seconds. */
const guesses = openTokenBuckets(1 / 6, 10)
const addressAtMost = 64

interface StationRow {
  readonly isOpen: boolean
  readonly sourcePassword: string
  readonly liveText: string
  readonly timezone: string
}

/** An account, as far as it decides who goes live. */
export interface StreamerRow {
  readonly id: number
  readonly username: string
  readonly displayName: string
  readonly password: string
  readonly isActive: boolean
  readonly enforceSchedule: boolean
  readonly scheduleItems: readonly ScheduleItem[]
}

/**
 * Whether somebody may go live on a station now; null: no. A user who is not known and one without a password
 * cost as much time as a wrong password. Who has guessed too often is not looked at for a while. Throws an
 * `ApiError`: 404 without the station, 400 where it lets nobody go live, 429 where too many passwords wait to
 * be checked.
 */
export async function loginStreamer(
  { sql, secrets }: { readonly sql: Sql; readonly secrets: Secrets },
  stationId: number,
  login: StreamerLogin,
  nowMs: number
): Promise<AllowedStreamer | null> {
  const station = await findStation(sql, stationId)
  if (!station) throw new ApiError('not-found')
  if (!station.isOpen) throw new ApiError('invalid', 'This station does not accept streamers.')
  const guesser = `${stationId} ${ownerOf(login.address).slice(0, addressAtMost)}`
  if (guesses.peek(guesser) > 0) return null
  const proven = await firstProven({ sql, secrets }, stationId, station, claimsOf(login))
  if (proven === null) {
    guesses.take(guesser)
    return null
  }
  // Of guesses that came together, all were let in before the first of them had failed.
  if (guesses.peek(guesser) > 0) return null
  if (proven === sourceUser) return { username: sourceUser, displayName: station.liveText, streamerId: null }
  if (!mayGoLive(proven, station.timezone, nowMs)) return null
  return { username: proven.username, displayName: proven.displayName, streamerId: proven.id }
}

/** Whether an account is switched on, and now is a time of its schedule where that is enforced. */
export function mayGoLive(
  {
    isActive,
    enforceSchedule,
    scheduleItems
  }: Pick<StreamerRow, 'isActive' | 'enforceSchedule' | 'scheduleItems'>,
  timezone: string,
  nowMs: number
): boolean {
  if (!isActive) return false
  return !enforceSchedule || windowAt(openZone(timezone), scheduleItems, nowMs) !== null
}

async function findStation(sql: Sql, stationId: number): Promise<StationRow | undefined> {
  const [station] = await sql<StationRow[]>`
    select enable_streamers as "isOpen", source_password as "sourcePassword", live_text as "liveText", timezone
    from stations where id = ${stationId}`
  return station
}

/** The account of the first claim whose password is right, or the user `source`; null: none is. */
async function firstProven(
  { sql, secrets }: { readonly sql: Sql; readonly secrets: Secrets },
  stationId: number,
  { sourcePassword }: StationRow,
  claims: readonly Claim[]
): Promise<StreamerRow | typeof sourceUser | null> {
  for (const { user, password } of claims) {
    if (user === sourceUser) {
      const purpose = sealingPurpose('stations', 'source_password')
      if (sourcePassword !== '' && isSame(secrets.open(sourcePassword, purpose), password)) return sourceUser
      continue
    }
    const streamer = await findAccount(sql, stationId, user)
    const isRight =
      streamer === undefined || streamer.password === ''
        ? await verifyNoPassword(password)
        : await verifyPassword(streamer.password, password)
    if (isRight && streamer) return streamer
  }
  return null
}

async function findAccount(sql: Sql, stationId: number, username: string): Promise<StreamerRow | undefined> {
  // Postgres refuses the character.
  if (username.includes('\0')) return undefined
  const [streamer] = await sql<StreamerRow[]>`
    select u.id, u.streamer_username as username, ${shownName(sql)} as "displayName",
      u.streamer_password as password, u.is_active as "isActive", u.enforce_schedule as "enforceSchedule",
      u.schedule_items as "scheduleItems"
    from streamers u join stations s on s.id = u.station_id
    where u.station_id = ${stationId} and u.streamer_username = ${username}`
  return streamer
}

/** Compares without telling by the time how much is alike. */
function isSame(text: string, other: string): boolean {
  return timingSafeEqual(digestOf(text), digestOf(other))
}

const digestOf = (text: string) => createHash('sha256').update(text).digest()

/** A user and the password that shall prove it. */
export interface Claim {
  readonly user: string
  readonly password: string
}

/**
 * Whom a streaming client may mean, in the order in which it is to be believed. Programs that know no users
 * send none, or `source`, and leave one field for the password: it holds the station's, or `user,password` or
 * `user:password`. Never empty; at most one claim is of another user than `source`.
 */
export function claimsOf({ user, password }: Claim): Claim[] {
  const name = nameOf(user)
  if (name !== sourceUser) return [{ user: name, password }]
  const [, named, rest] = /^([^,:]+)[,:]([^]*)$/.exec(password) ?? []
  const whole = { user: sourceUser, password }
  return named === undefined || rest === undefined
    ? [whole]
    : [whole, { user: nameOf(named), password: rest }]
}

function nameOf(user: string): string {
  const name = user.trim()
  return name === '' || name.toLowerCase() === sourceUser ? sourceUser : name
}
