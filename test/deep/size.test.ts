import { expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { openStateComparison } from '../../src/engine/compare-states.ts'
import { recordListenerReport } from '../../src/engine/listeners/count-listeners.ts'
import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { readAutodjFacts } from '../../src/engine/queue-context.ts'
import { readLastPlays, readPlays } from '../../src/engine/queue/library-past.ts'
import { expireRequests, removeRequestAddresses } from '../../src/engine/queue/requests.ts'
import { raiseSilenceAlerts } from '../../src/engine/silence-alerts.ts'
import { lockStations } from '../../src/engine/station-facts.ts'
import { markStationDeleted, removeDeletedStations } from '../../src/engine/station-removal.ts'
import { sweep } from '../../src/engine/sweep.ts'
import {
  removeOldAudit,
  removeOldBroadcasts,
  removeOldDeliveries,
  removeOldListenerMinutes,
  removeOldListenerSessions,
  removeOldNotifications,
  removeOldPlays,
  removeOldQueueRows,
  removeOldRequests
} from '../../src/stores/db/retention.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { removeOrphanDeliveries } from '../../src/webhooks/deliveries/deliveries.ts'
import { acquireHookLease, readDueHooks, readDeliveryEvent } from '../../src/webhooks/deliveries/leases.ts'
import { serveApi } from '../support/api-server.ts'
import { openExplained } from '../support/explained.ts'
import { test } from '../support/fixtures.ts'
import { manyRows, oldRows, openLargeDatabase, stations } from '../support/large-tables.ts'
import { openPlayout } from '../support/playout.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

type Case = readonly [name: string, rows: number, run: () => Promise<unknown>]

/** The plays in memory, or the rows of a page. */
const few = 1_100
/** A list counts and searches the newest 100,000 rows. */
const counted = 100_100
/** Two reads of each removed row and of its references. */
const batch = 20_000

interface World {
  readonly sql: Sql
  readonly playout: Awaited<ReturnType<typeof openPlayout>>
  readonly nowMs: number
}

/** Statements of the engine and of deliveries. */
function engineCases({ sql, playout, nowMs }: World): Case[] {
  const { silent, small } = stations
  const lock = () => sql.begin(held => Promise.all([lockStations(held, [1]), readAutodjFacts(held, [1])]))
  const asPlayout = async () => {
    await sql`update stations set backend = 'liquidsoap', enable_auto_cue = true where id = 1`
    await lock()
    await sql`update stations set backend = 'clock' where id = 1`
  }
  return [
    ['plays of a day', 1_500, () => readPlays(sql, [1], { startsAtMs: [nowMs - dayMs] })],
    ['plays since one', 2_100, () => readPlays(sql, [1], { ids: [3 + manyRows - 1_000] })],
    [
      'plays of a small station since one',
      2_100,
      () => readPlays(sql, [small], { ids: [3 + manyRows + 19_000] })
    ],
    ['plays of a silent station', few, () => readPlays(sql, [silent], { ids: [1] })],
    ['older plays', 35_000, () => readLastPlays(sql, [1], [nowMs - dayMs])],
    ['settings', few, lock],
    ['settings of a playout', few, asPlayout],
    ['facts', few, () => readSnapshots(sql, [1, silent, small])],
    ['silence', few, () => raiseSilenceAlerts(sql, nowMs, 60_000)],
    ['advance', 35_000, () => advance(playout, { stationId: 1, endedShId: 0, cause: 'wake' })],
    ['sweep', 35_000, () => sweep(playout, openStateComparison(playout))],
    [
      'a report of listeners',
      25_000,
      async () => {
        await recordListenerReport(playout, 1, {
          totals: { total: 7, unique: 5 },
          mounts: [],
          remotes: [],
          hls: []
        })
        await flushStationCounts(playout, [1])
      }
    ],
    ['expired requests', few, () => expireRequests(playout, nowMs)],
    ['addresses of requests', few, () => removeRequestAddresses(sql, nowMs)],
    ['due hooks', few, () => readDueHooks(sql, nowMs, 100)],
    ['lease of a web hook', few, () => acquireHookLease(sql, 1, 'size', nowMs)],
    ['event of a delivery', few, () => readDeliveryEvent(sql, 1_000_000)]
  ]
}

/** Reads of the API. */
function pathCases(nowMs: number): (readonly [name: string, rows: number, path: string])[] {
  const large = '/api/station/large'
  const oldSeconds = Math.floor((nowMs - 4_900_000 * minuteMs) / 1_000)
  const longAgo = Math.floor((nowMs - 1_099 * dayMs) / 1_000)
  return [
    ['statistics', 20_000, '/api/stats'],
    ['web hooks', few, `${large}/webhooks`],
    ['history', counted, `${large}/history?per_page=25`],
    ['history of a small station', counted, '/api/station/small/history?per_page=25'],
    ['history of a silent station', few, '/api/station/silent/history?per_page=25'],
    ['deep history', counted, `${large}/history?per_page=500&page=200`],
    ['old history', counted, `${large}/history?per_page=25&end=${oldSeconds}`],
    ['search in the history', counted, `${large}/history?per_page=25&searchPhrase=nobody`],
    ['history as a file', counted, `${large}/history?format=csv`],
    ['history as a file, searched', counted, `${large}/history?format=csv&searchPhrase=nobody`],
    ['songs by plays', counted, `${large}/reports/songs?per_page=25&start=${longAgo}`],
    [
      'songs by plays, searched',
      counted,
      `${large}/reports/songs?per_page=25&start=${longAgo}&searchPhrase=nobody`
    ],
    ['songs by plays as a file', counted * 2, `${large}/reports/songs?format=csv&start=${longAgo}`],
    ['best and worst plays', counted, `${large}/reports/overview/best-and-worst?start=${longAgo}`],
    ['charts of plays', counted, `${large}/reports/overview/charts`],
    ['listening of a month', 1_000_000, `${large}/reports/audience`],
    ['performances of a month', counted, `${large}/reports/soundexchange`],
    ['requests', counted, `${large}/reports/requests?type=history&per_page=25`],
    [
      'search in the requests',
      counted,
      `${large}/reports/requests?type=history&per_page=25&searchPhrase=nobody`
    ],
    ['pending requests', few, `${large}/reports/requests?per_page=25`],
    ['deliveries', counted, `${large}/webhook/1/deliveries?per_page=25`],
    ['failed deliveries', few, `${large}/webhook/1/deliveries?per_page=25&status=failed`],
    ['search in the deliveries', counted, `${large}/webhook/1/deliveries?per_page=25&searchPhrase=nobody`],
    ['a delivery', few, `${large}/webhook/1/delivery/1000000`],
    ['broadcasts', counted, `${large}/streamers/broadcasts?per_page=25`],
    ['search in the broadcasts', counted, `${large}/streamers/broadcasts?per_page=25&searchPhrase=nobody`],
    ['notifications', counted, '/api/v1/main/notifications?per_page=25'],
    ['search in the notifications', counted, '/api/v1/main/notifications?per_page=25&searchPhrase=nobody'],
    ['unread notifications', counted, '/api/v1/main/notifications?per_page=25&is_read=false'],
    ['count of notifications', counted, '/api/v1/main/notifications/stats'],
    ['audit log', counted, '/api/admin/auditlog?per_page=25'],
    ['search in the audit log', counted, '/api/admin/auditlog?per_page=25&searchPhrase=nobody'],
    ['audit log of a kind of record', few, '/api/admin/auditlog?per_page=25&record=Rare'],
    ['audit log of a record', few, '/api/admin/auditlog?per_page=25&record=Playlist&record_id=77'],
    ['audit log of an id', counted, '/api/admin/auditlog?per_page=25&record_id=77'],
    ['audit log of a station', few, '/api/admin/auditlog?per_page=25&station=2'],
    [
      'audit log of a rare record at a station',
      counted,
      '/api/admin/auditlog?per_page=25&station=1&record=Rare'
    ],
    ['audit log of a key', counted, '/api/admin/auditlog?per_page=25&key=2'],
    ['deep page of the audit log', counted, '/api/admin/auditlog?per_page=25&before=2000000'],
    ['old audit log', counted, `/api/admin/auditlog?per_page=25&until=${oldSeconds}`],
    ['series of a day', 3_000, `${large}/listeners/series`],
    ['series of 1,099 days', 1_600_000, `${large}/listeners/series?start=${longAgo}&step=86400`]
  ]
}

/** Removals, each of rows that those before it leave. */
function removalCases({ sql, playout, nowMs }: World): Case[] {
  const keptDays = Math.floor(((manyRows - oldRows) * minuteMs) / dayMs)
  const retention = {
    HISTORY_RETENTION_DAYS: keptDays,
    REQUEST_RETENTION_DAYS: keptDays,
    DELIVERY_RETENTION_DAYS: keptDays,
    AUDIT_RETENTION_DAYS: keptDays,
    LISTENER_RETENTION_DAYS: keptDays,
    AUDIENCE_RETENTION_DAYS: keptDays
  }
  const { small } = stations
  return [
    ['removal of old plays', batch, () => removeOldPlays(sql, nowMs, retention)],
    ['removal of old queue rows', batch * 2, () => removeOldQueueRows(sql, nowMs)],
    ['removal of old requests', batch, () => removeOldRequests(sql, nowMs, retention)],
    ['removal of old deliveries', batch * 2, () => removeOldDeliveries(sql, nowMs, retention)],
    ['removal of old audit entries', batch, () => removeOldAudit(sql, nowMs, retention)],
    ['removal of old notifications', batch, () => removeOldNotifications(sql, nowMs)],
    ['removal of old minutes', batch, () => removeOldListenerMinutes(sql, nowMs, retention)],
    [
      'removal of old sessions',
      batch,
      () => removeOldListenerSessions(sql, nowMs, { ...retention, AUDIENCE_RETENTION_DAYS: 50 })
    ],
    ['removal of old broadcasts', batch, () => removeOldBroadcasts(sql, nowMs, retention)],
    ['deletion of a web hook', few, () => sql`delete from webhooks where id = 1`],
    ['removal of its deliveries', batch * 2, () => removeOrphanDeliveries(sql)],
    ['deletion of a small station', few, () => sql.begin(tx => markStationDeleted(tx, small))],
    ['removal of its rows', batch, () => removeDeletedStations(playout)]
  ]
}

test('statements on tables of five million rows read a limited number of rows', async ({ redisUrl }) => {
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs
  await using database = await openLargeDatabase(nowMs)
  await using explained = openExplained(database.url)
  const { sql } = explained
  const api = await serveApi(sql, redisUrl)
  await using playout = await openPlayout(sql, redisUrl)
  const key = await api.makeKey(['administer all'])
  const get = async (path: string) => {
    const response = await fetch(api.base + path, { headers: { 'x-api-key': key } })
    expect([path, response.status, response.ok ? '' : await response.text()]).toEqual([path, 200, ''])
    await response.arrayBuffer()
  }
  const excessive: object[] = []
  const check = async (name: string, rows: number, run: () => Promise<unknown>) => {
    const statements = await explained.explain(async () =>
      run().catch(error => excessive.push({ name, error }))
    )
    if (statements.length === 0) excessive.push({ name, error: 'nothing was explained' })
    for (const each of statements)
      if (each.rows > rows || each.blocks > 200 + rows * 5) excessive.push({ name, ...each })
  }
  const world = { sql, playout, nowMs }
  for (const each of engineCases(world)) await check(...each)
  for (const [name, rows, path] of pathCases(nowMs)) await check(name, rows, () => get(path))
  for (const each of removalCases(world)) await check(...each)
  expect(excessive).toEqual([])

  // Of the large station only its plays, and one run of their removal.
  await sql`truncate webhook_events, webhook_deliveries, webhook_attempts, queue, requests`
  await check('deletion of the large station', few, () =>
    sql.begin(tx => markStationDeleted(tx, stations.large))
  )
  let removed = 0
  await check('removal of its plays', batch, async () => (removed = await removeDeletedStations(playout)))
  expect(removed).toBe(1_000_000)
  expect(excessive).toEqual([])
})
