import type { Sql } from '../../db/sql.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { version } from '../../runtime/program-files.ts'
import { isOnline } from '../../station/state.ts'
import { succeeded, successSchema } from '../auth/account.ts'
import type { ApiRoute } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const freshMs = 1_000
const timeoutMs = 5_000
/**
 * At most this part of the time is spent counting, however many records there are and however often one asks.
 */
const share = 0.1

interface Counts {
  readonly stations: number
  readonly media: number
  readonly playlists: number
  readonly queue: number
  readonly history_24h: number
  readonly sftp_users: number
  readonly webhooks: number
  readonly storage_locations: number
}

/** Counts at most once a second, less often where counting takes long; a failed count is not kept. */
function openCounts() {
  let counts: Promise<Counts> | null = null
  let freshUntilMs = Infinity
  const start = async (sql: Sql) => {
    const startMs = performance.now()
    // Whoever asks while it is under way waits for it.
    freshUntilMs = Infinity
    try {
      return await withDeadline(timeoutMs, 'counting records', () => count(sql))
    } catch (error) {
      counts = null
      throw error
    } finally {
      const nowMs = performance.now()
      freshUntilMs = nowMs + Math.max(freshMs, (nowMs - startMs) / share)
    }
  }
  return (sql: Sql): Promise<Counts> => {
    if (counts === null || performance.now() >= freshUntilMs) counts = start(sql)
    return counts
  }
}

/** The day is reckoned by Postgres: of a parameter it could not tell that few rows are that young. */
async function count(sql: Sql): Promise<Counts> {
  const [counts] = await sql<Counts[]>`
    select (select count(*) from stations where deleted_at is null) as stations,
      (select count(*) from media where remote_playlist_id is null) as media,
      (select count(*) from playlists) as playlists,
      (select count(*) from queue where played_at_ms is null and skipped_at_ms is null) as queue,
      (select count(*) from song_history
        where started_at_ms > (extract(epoch from now() - interval '1 day') * 1000)::bigint) as history_24h,
      (select count(*) from sftp_users) as sftp_users, (select count(*) from webhooks) as webhooks,
      (select count(*) from storage_locations) as storage_locations`
  if (!counts) throw new Error('counting gave no row')
  return counts
}

const countsOf = openCounts()
const whole = { type: 'integer', format: 'int64' }

const stats: ApiRoute = {
  method: 'GET',
  path: '/api/stats',
  access: 'view administration',
  operation: {
    id: 'getStats',
    tag: 'Status',
    summary: 'How much there is of everything',
    answer: successSchema({
      stations: whole,
      online: { ...whole, description: 'Stations that play.' },
      listeners: exactly({ total: whole, unique: whole }),
      media: whole,
      playlists: whole,
      queue: { ...whole, description: 'Songs that wait, on all stations.' },
      history_24h: { ...whole, description: 'Plays that began within 24 hours.' },
      sftp_users: whole,
      webhooks: whole,
      storage_locations: whole,
      uptime: { ...whole, description: 'Seconds since this server process started.' },
      version: { type: 'string' }
    })
  },
  async handle(_, { reads: sql, live }) {
    const { stations, ...counts } = await countsOf(sql)
    const states = live.all()
    const sum = (of: 'total' | 'unique') => states.reduce((all, { listeners }) => all + listeners[of], 0)
    return succeeded({
      stations,
      online: states.filter(isOnline).length,
      listeners: { total: sum('total'), unique: sum('unique') },
      ...counts,
      uptime: Math.floor(process.uptime()),
      version
    })
  }
}

export const statsRoutes = [stats]
