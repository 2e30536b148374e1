import { createHash, timingSafeEqual } from 'node:crypto'

import { type ScheduleItem, findWindowAt } from '../../model/autodj/schedule.ts'
import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { sealingPurpose } from '../../model/fields/field.ts'
import { addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import { ApiError, TooManyRequests } from '../../platform/runtime/errors.ts'
import { unicodeNameKey } from '../../platform/text/unicode-names.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { shownDjNameFragment, sourceUsername } from '../../stores/db/stations.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { openPasswordThrottle } from '../auth/password-throttle.ts'
import { verifyDummyPassword, verifyPassword } from '../auth/passwords.ts'
import { type SharedBucketDeps, openSharedTokenBuckets } from '../core/shared-buckets.ts'

export interface StreamerCredentials {
  readonly user: string
  readonly password: string
}

/** The credentials that a streaming client sent, and its IP address (empty: unknown). */
interface StreamerLogin extends StreamerCredentials {
  readonly address: string
}

/** Wrong passwords by station and address: a burst of ten, then one every six seconds. */
const failedLogins = openSharedTokenBuckets('streamer', 1 / 6, 10)
const maxAddressLength = 64
const maxNameLength = 64
/**
 * Logins of a station from unknown addresses, which a playout does not report: a burst of 20, then one every two
 * seconds. Others wait in a queue, shorter than Liquidsoap waits: with a limit as above, wrong passwords would keep
 * all streamers off the air.
 */
const unknownQueue = openPasswordThrottle('streamer of unknown address', 1 / 2, 20, 5_000)

interface StationRow {
  readonly acceptsStreamers: boolean
  readonly sourcePassword: string
  readonly liveText: string
  readonly timezone: string
}

interface StreamerRow {
  readonly id: number
  readonly username: string
  readonly displayName: string
  readonly password: string
  readonly isActive: boolean
  readonly enforceSchedule: boolean
  readonly scheduleItems: readonly ScheduleItem[]
}

interface LoginDeps extends SharedBucketDeps {
  readonly sql: Sql
  readonly secrets: Secrets
}

/**
 * Returns the streamer if the login may go live on the station now, else null; `streamerId` is null for the
 * user `source`. An unknown user takes as long as a wrong password. After too many wrong passwords, logins fail
 * for a while. Throws `ApiError`: 404 if the station does not exist, 400 if it does not accept streamers, 429 if
 * too many passwords are being verified.
 */
export async function verifyStreamerLogin(
  deps: LoginDeps,
  stationId: number,
  login: StreamerLogin,
  nowMs: number
) {
  const [station] = await deps.sql<StationRow[]>`
    select enable_streamers as "acceptsStreamers", source_password as "sourcePassword", live_text as "liveText",
      timezone from stations where id = ${stationId}`
  if (!station) throw new ApiError('not-found')
  if (!station.acceptsStreamers) throw new ApiError('invalid', 'This station does not accept streamers.')
  const client = `${stationId} ${addressLimitKeyOf(login.address).slice(0, maxAddressLength)}`
  const isUnknown = login.address === ''
  const isLocked = async () => !isUnknown && (await failedLogins.peek(deps, client)) > 0
  if (await isLocked()) return null
  if (isUnknown && !(await waitInUnknownQueue(deps, stationId, login.user))) return null
  const streamer = await findByPassword(deps, stationId, station, parseStreamerCredentials(login))
  if (streamer === null) {
    if (!isUnknown) await failedLogins.take(deps, client)
    return null
  }
  // Checked again: concurrent guesses all passed the check above.
  if (await isLocked()) return null
  if (streamer === sourceUsername)
    return { username: sourceUsername, displayName: station.liveText, streamerId: null }
  if (!mayGoLive(streamer, station.timezone, nowMs)) return null
  return { username: streamer.username, displayName: streamer.displayName, streamerId: streamer.id }
}

/**
 * Returns false if the login has to be repeated later. Each user has a queue, so that guesses for one do not delay the
 * others.
 */
async function waitInUnknownQueue(deps: SharedBucketDeps, stationId: number, user: string): Promise<boolean> {
  try {
    // Accounts are found by the same key.
    const name = unicodeNameKey(normalizeUser(user)).slice(0, maxNameLength)
    await unknownQueue.take(deps, String(stationId), [name])
    return true
  } catch (error) {
    if (error instanceof TooManyRequests) return false
    throw error
  }
}

/** Whether an account is active and, if its schedule is enforced, scheduled now. */
export function mayGoLive(
  account: Pick<StreamerRow, 'isActive' | 'enforceSchedule' | 'scheduleItems'>,
  timezone: string,
  nowMs: number
): boolean {
  if (!account.isActive) return false
  return (
    !account.enforceSchedule || findWindowAt(getTimeZone(timezone), account.scheduleItems, nowMs) !== null
  )
}

/** Returns the account of the first credentials with the right password, or the user `source`, or null. */
async function findByPassword(
  { sql, secrets }: LoginDeps,
  stationId: number,
  { sourcePassword }: StationRow,
  candidates: readonly StreamerCredentials[]
): Promise<StreamerRow | typeof sourceUsername | null> {
  for (const { user, password } of candidates) {
    if (user === sourceUsername) {
      const purpose = sealingPurpose('stations', 'source_password')
      if (sourcePassword !== '' && isEqual(secrets.open(sourcePassword, purpose), password))
        return sourceUsername
      continue
    }
    const streamer = await findAccount(sql, stationId, user)
    const isRight =
      streamer === undefined || streamer.password === ''
        ? await verifyDummyPassword(password)
        : await verifyPassword(streamer.password, password)
    if (isRight && streamer) return streamer
  }
  return null
}

async function findAccount(sql: Sql, stationId: number, username: string): Promise<StreamerRow | undefined> {
  // Postgres rejects NUL.
  if (username.includes('\0')) return undefined
  const [streamer] = await sql<StreamerRow[]>`
    select u.id, u.streamer_username as username, ${shownDjNameFragment(sql)} as "displayName",
      u.streamer_password as password, u.is_active as "isActive", u.enforce_schedule as "enforceSchedule",
      u.schedule_items as "scheduleItems"
    from streamers u join stations s on s.id = u.station_id
    where u.station_id = ${stationId} and name_key(u.streamer_username) = name_key(${username})
    order by u.streamer_username <> ${username} limit 1`
  return streamer
}

/** Compares in constant time. */
function isEqual(text: string, other: string): boolean {
  return timingSafeEqual(sha256(text), sha256(other))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * Returns the possible meanings of credentials, in order of preference. Clients without a field for the user
 * send none, or `source`; their password is the station's, or `user,password`, or `user:password`. Never
 * empty; at most one result has a user other than `source`.
 */
export function parseStreamerCredentials({ user, password }: StreamerCredentials): StreamerCredentials[] {
  const name = normalizeUser(user)
  if (name !== sourceUsername) return [{ user: name, password }]
  const source = { user: sourceUsername, password }
  const [, named, rest] = /^([^,:]+)[,:]([^]*)$/.exec(password) ?? []
  if (named === undefined || rest === undefined) return [source]
  return [source, { user: normalizeUser(named), password: rest }]
}

function normalizeUser(user: string): string {
  const name = user.trim()
  return name === '' || name.toLowerCase() === sourceUsername ? sourceUsername : name
}
