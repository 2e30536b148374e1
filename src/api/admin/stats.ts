import { fullVersion } from '../../platform/process/program-files.ts'
import { openCache } from '../../platform/runtime/cache.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { accountLevelReply, accountLevelSchema } from '../auth/account-level-replies.ts'
import { apiRoute } from '../core/route.ts'
import { exactObject, int64, string } from '../core/schemas.ts'

const minTtlMs = 1_000
const timeoutMs = 5_000
/** The maximum share of the time that is spent counting, for any number of records and requests. */
const maxLoad = 0.1

/** The counts by name; `count` selects them. */
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

/** Records are counted at most once a second, less often if counting takes long. */
const counts = openCache<'all', Counts>({
  maxEntries: 1,
  ttlMs: countedInMs => Math.max(minTtlMs, countedInMs / maxLoad)
})

/** The start of the day is computed by Postgres, so that the planner can estimate the number of rows. */
async function count(sql: Sql): Promise<Counts> {
  const [found] = await sql<Counts[]>`
    select (select count(*) from stations where deleted_at is null) as stations,
      (select count(*) from media where remote_playlist_id is null) as media,
      (select count(*) from playlists) as playlists,
      (select count(*) from queue where played_at_ms is null and skipped_at_ms is null) as queue,
      (select count(*) from song_history
        where started_at_ms > (extract(epoch from now() - interval '1 day') * 1000)::bigint) as history_24h,
      (select count(*) from sftp_users) as sftp_users, (select count(*) from webhooks) as webhooks,
      (select count(*) from storage_locations) as storage_locations`
  if (!found) throw new Error('count returned no row')
  return found
}

export const statsRoute = apiRoute('GET', '/api/stats', 'view administration', {
  id: 'getStats',
  tag: 'Status',
  summary: 'Number of records of every kind',
  response: accountLevelSchema({
    stations: int64,
    online: { ...int64, description: 'Stations that play.' },
    listeners: exactObject({ total: int64, unique: int64 }),
    media: int64,
    playlists: int64,
    queue: { ...int64, description: 'Queued songs of all stations.' },
    history_24h: { ...int64, description: 'Plays that began within 24 hours.' },
    sftp_users: int64,
    webhooks: int64,
    storage_locations: int64,
    uptime: { ...int64, description: 'Seconds since this server process started.' },
    version: string
  }),
  async handle(_, { reads: sql, live }) {
    const { stations, ...others } = await counts.load('all', () =>
      withDeadline(timeoutMs, 'counting records', () => count(sql))
    )
    const listed = live.all()
    const sum = (of: 'listeners' | 'uniqueListeners') => listed.reduce((all, each) => all + each[of], 0)
    return accountLevelReply({
      stations,
      online: listed.filter(({ isOnline }) => isOnline).length,
      listeners: { total: sum('listeners'), unique: sum('uniqueListeners') },
      ...others,
      uptime: Math.floor(process.uptime()),
      version: fullVersion
    })
  }
})
