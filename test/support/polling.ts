import { randomBytes } from 'node:crypto'

import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { noCountryFinder } from '../../src/radio/countries.ts'
import { openListenerDescriber } from '../../src/radio/listener-details.ts'
import { addMissingPollRows } from '../../src/radio/polls/poll-rows.ts'
import { openPoller, type PollServices } from '../../src/radio/polls/poller.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { openPlayout } from './playout.ts'

/** A poller of streaming servers, on the database and Redis of a test. */
export async function openPolling(
  sql: Sql,
  redisUrl: string,
  WEBHOOK_ALLOWED_NETWORKS: readonly string[] = [],
  countries = noCountryFinder
) {
  const playout = await openPlayout(sql, redisUrl)
  const secrets = openSecrets(randomBytes(32))
  const stopping = new AbortController()
  const describeListener = openListenerDescriber(countries)
  const services: PollServices = {
    ...playout,
    secrets,
    config: { WEBHOOK_ALLOWED_NETWORKS },
    describeListener
  }
  const poller = openPoller(services, stopping.signal)
  return {
    services,
    poller,
    /** Adds missing polls and runs all that are due at this time. Returns how many. */
    poll: async (nowMs: number) => {
      await addMissingPollRows(sql)
      const { started } = await poller.startDue(nowMs)
      await poller.drain()
      return started
    },
    /** Sets the streaming server of a station. */
    setServer: (
      stationId: number,
      url: string,
      { password = '', frontend = 'icecast', backend = 'clock' } = {}
    ) =>
      sql`update stations set frontend_url = ${url}, frontend = ${frontend}, backend = ${backend},
        frontend_admin_password = ${password && secrets.seal(password, 'stations.frontend_admin_password')}
        where id = ${stationId}`,
    /** Adds a remote and returns its id. */
    addRemote: async (stationId: number, url: string, type: string, { password = '', bitrate = 0 } = {}) => {
      const sealed = password && secrets.seal(password, 'remotes.admin_password')
      const [row] = await sql<{ id: number }[]>`
        insert into remotes (station_id, name, url, type, admin_password, bitrate)
        values (${stationId}, 'Relay', ${url}, ${type}, ${sealed}, ${bitrate}) returning id`
      return row?.id ?? 0
    },
    /** The counts of a station, its mounts and its remotes, by path, as `total/unique`. */
    counts: async (stationId: number) => {
      await flushStationCounts(playout, [stationId])
      const [station] = await sql<{ all: string }[]>`
        select listeners_total || '/' || listeners_unique as all from stations where id = ${stationId}`
      const sources = await sql<{ path: string; count: string }[]>`
        select name as path, mount_listeners_total || '/' || mount_listeners_unique as count
        from hls_streams where station_id = ${stationId}
        union all select url, listeners_total || '/' || listeners_unique from remotes where station_id = ${stationId}
        order by path`
      return { all: station?.all, ...Object.fromEntries(sources.map(({ path, count }) => [path, count])) }
    },
    /** The state of the station's polls, that of its own server first. */
    state: (stationId: number) =>
      sql<
        {
          dueAtMs: number
          answeredAtMs: number | null
          failingSinceMs: number | null
          failures: number
          problem: string
        }[]
      >`
        select due_at_ms as "dueAtMs", answered_at_ms as "answeredAtMs", failing_since_ms as "failingSinceMs",
          failures, problem
        from polls where station_id = ${stationId} order by remote_id nulls first`,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await poller.drain()
      await playout[Symbol.asyncDispose]()
    }
  }
}
