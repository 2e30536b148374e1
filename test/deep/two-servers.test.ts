import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { entryOf, subsOf } from '../support/live-frames.ts'
import { connectBy, openWebSocket } from '../support/live-ways.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const way = 'a WebSocket and its first frame'
const within = { deadlineMs: 20_000 }

test.runIf(isDeep)(
  'of two servers each admits its own limit to a station, occupancy sums both, and both end listen tokens within a second',
  { timeout: 90_000 },
  async ({ databaseUrl, redisUrl }) => {
    const folder = await scratchFolder()
    const variables = { LIVE_MAX_CONNECTIONS_PER_STATION: '2' }
    using first = await startServer(databaseUrl, redisUrl, folder, variables)
    using second = await startServer(databaseUrl, redisUrl, folder, variables)
    const servers = [first, second]
    const { body: station } = await first.ask('POST', '/api/admin/stations', {
      body: { name: 'Hidden', short_name: 'hidden', is_public: false }
    })
    const path = `/api/station/${String(station.id)}`
    for (const { ask } of servers)
      await waitFor(async () => (await ask('GET', `/api/nowplaying/${String(station.id)}`)).status === 200, {
        ...within,
        what: 'the station on both servers'
      })

    const makeToken = async (body: object) =>
      (await first.ask('POST', `${path}/listen-tokens`, { body })).body
    const connect = async ({ baseUrl }: RunningServer, token: string) => {
      const { reader, connect: frame } = await connectBy(way, {
        baseUrl,
        message: { ...subsOf('station:hidden'), token }
      })
      entryOf('recovered', frame, 'station:hidden')
      return reader
    }
    const total = (expected: number) =>
      Promise.all(
        servers.map(({ ask }) =>
          waitFor(async () => (await ask('GET', `${path}/occupancy`)).body.total === expected, {
            ...within,
            what: `${expected} followers`
          })
        )
      )

    const long = await makeToken({ expires_in: 600 })
    const short = await makeToken({ expires_in: 10 })
    const lasting = await Promise.all(servers.map(server => connect(server, long.token)))
    const expiring = await Promise.all(servers.map(server => connect(server, short.token)))
    await total(4)
    for (const { baseUrl } of servers) {
      const message = { ...subsOf('station:hidden'), token: long.token }
      const refused = openWebSocket({ baseUrl, message })
      expect((await refused.ended).code).toBe(3013)
    }

    const endsAtMs = short.expires_at * 1_000
    for (const reader of expiring) {
      const { disconnect } = await reader.until('disconnect', () => true, 15_000)
      expect(disconnect).toEqual({ code: 3005, reason: 'token expired' })
      expect(Date.now() - endsAtMs).toBeGreaterThan(-50)
      expect(Date.now() - endsAtMs).toBeLessThan(1_000)
    }
    await total(2)

    const revokedAtMs = Date.now()
    expect((await second.ask('DELETE', `${path}/listen-tokens`)).status).toBe(200)
    for (const reader of lasting) {
      expect((await reader.until('disconnect')).disconnect.code).toBe(3005)
      expect(Date.now() - revokedAtMs).toBeLessThan(1_000)
    }
    await total(0)
  }
)
