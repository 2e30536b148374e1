import type { SourceKind } from '../../model/station/state.ts'
import type { RedisClient } from './connection.ts'
import { endedSessionsKey, openSessionsKey } from './keys.ts'

/*
 * Sessions of listeners. While a listener is connected, the session is in a hash, by the source and a token that is
 * made of the salted hash of the listener. `countListeners-10.lua` moves those that ended, without the token, to a
 * stream, from which the workers write them to Postgres.
 */

/** What is known about the listener of a session. Empty: unknown. */
export interface ListenerDetails {
  /** The program: `VLC`, `Firefox`; one of a closed list. */
  readonly family: string
  readonly client: ClientKind
  /** ISO 3166-1 alpha-2. */
  readonly country: string
}

/** Kinds of programs. */
export const clientKinds = ['bot', 'mobile', 'desktop', 'non_browser'] as const
type ClientKind = (typeof clientKinds)[number]

/** The sessions that began and ended at a source. Those that ended are moved first. */
export interface ListenerSessionChanges {
  readonly opened: readonly (readonly [token: string, startMs: number, details: string])[]
  readonly ended: readonly (readonly [token: string, endMs: number])[]
}

/** Renders details as `countListeners-10.lua` stores them: the elements of a JSON array. */
export const renderListenerDetails = ({ family, client, country }: ListenerDetails): string =>
  JSON.stringify([family, client, country]).slice(1, -1)

/** An open session. `offset` and `ordinal` name it within its station. */
export interface OpenSession extends ListenerDetails {
  readonly offset: number
  readonly ordinal: number
  readonly startMs: number
}

/** A session that ended. */
export interface EndedSession extends OpenSession {
  readonly stationId: number
  readonly source: SourceKind
  /** The path of a mount, or the URL of a remote. */
  readonly path: string
  readonly endMs: number
}

type StoredSession = [
  offset: number,
  ordinal: number,
  startMs: number,
  family: string,
  client: ClientKind,
  country: string
]

function parseListenerSession([
  offset,
  ordinal,
  startMs,
  family,
  client,
  country
]: StoredSession): OpenSession {
  return { offset, ordinal, startMs, family, client, country }
}

const scanCount = 2_000

/** Reads the open sessions of a station, by source (`mount:7`) and token. */
export async function readOpenSessions(redis: RedisClient, stationId: number) {
  const bySource = new Map<string, Map<string, OpenSession>>()
  let cursor = '0'
  do {
    const [next, found] = await redis.hscan(openSessionsKey(stationId), cursor, 'COUNT', scanCount)
    for (let index = 0; index < found.length; index += 2) {
      const [key = '', token = ''] = found[index]?.split(' ') ?? []
      const sessions = bySource.get(key) ?? new Map<string, OpenSession>()
      // Written by our script only.
      bySource.set(key, sessions.set(token, parseListenerSession(JSON.parse(found[index + 1] ?? ''))))
    }
    cursor = next
  } while (cursor !== '0')
  return bySource
}

/** Before the first entry of a stream. */
export const firstStreamId = '0-0'

/**
 * Reads the oldest ended sessions of a shard after an entry (`firstStreamId`, or an id), with the ids of their entries
 * for `removeEndedSessions`.
 */
export async function readEndedSessions(redis: RedisClient, shard: number, afterId: string, limit: number) {
  const entries = await redis.xrange(endedSessionsKey(shard), `(${afterId}`, '+', 'COUNT', limit)
  return entries.map(([id, [, text = '']]) => {
    // Written by our scripts only.
    const [stationId, source, path, endMs, ...session]: [
      number,
      SourceKind,
      string,
      number,
      ...StoredSession
    ] = JSON.parse(text)
    return { id, session: { stationId, source, path, endMs, ...parseListenerSession(session) } }
  })
}

/** Removes sessions that were written to Postgres. */
export async function removeEndedSessions(
  redis: RedisClient,
  shard: number,
  ids: readonly string[]
): Promise<void> {
  if (ids.length > 0) await redis.xdel(endedSessionsKey(shard), ...ids)
}
