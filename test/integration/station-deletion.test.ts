import { once } from 'node:events'

import { expect } from 'vitest'

import { shardOf } from '../../src/stores/redis/keys.ts'
import { readShardPositions } from '../../src/stores/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

const soon = { deadlineMs: 1_000, what: 'the other server to be up to date' }

const statusAt = async ({ ask }: RunningServer, id: number) =>
  (await ask('GET', `/api/nowplaying/${id}`)).status

/** Two servers on one store, and no workers. */
async function openPair(databaseUrl: string, redisUrl: string) {
  const folder = await openTempFolder()
  const [first, second] = await Promise.all([
    startServer(databaseUrl, redisUrl, folder.path),
    startServer(databaseUrl, redisUrl, folder.path)
  ])
  return {
    first,
    second,
    async [Symbol.asyncDispose]() {
      first[Symbol.dispose]()
      second[Symbol.dispose]()
      await folder[Symbol.asyncDispose]()
    }
  }
}

async function create({ ask }: RunningServer, name: string): Promise<number> {
  const { status, body } = await ask('POST', '/api/admin/stations', { body: { name } })
  expect(status).toBe(200)
  return body.id
}

test('every server shows a deletion, and a paused one shows it when it resumes', async ({
  databaseUrl,
  redisUrl
}) => {
  await using pair = await openPair(databaseUrl, redisUrl)
  const { first, second } = pair
  const [kept, gone] = [await create(first, 'Kept'), await create(first, 'Gone')]
  for (const id of [kept, gone]) await waitFor(async () => (await statusAt(second, id)) === 200, soon)

  await first.ask('PUT', `/api/admin/station/${kept}`, { body: { short_name: 'renamed' } })
  await waitFor(async () => (await second.ask('GET', '/api/nowplaying/renamed')).status === 200, soon)
  expect((await second.ask('GET', '/api/nowplaying/kept')).status).toBe(404)

  second.process.kill('SIGSTOP')
  expect((await first.ask('DELETE', `/api/admin/station/${gone}`)).status).toBe(200)
  expect(await statusAt(first, gone)).toBe(404)
  second.process.kill('SIGCONT')
  await waitFor(async () => (await statusAt(second, gone)) === 404, soon)
  expect(await statusAt(second, kept)).toBe(200)

  const last = await create(second, 'Last')
  expect((await second.ask('DELETE', `/api/admin/station/${last}`)).status).toBe(200)
  await waitFor(async () => (await statusAt(first, last)) === 404, soon)
})

test('workers finish a deletion after the server was killed', async ({
  databaseUrl,
  redisUrl,
  sql,
  redis
}) => {
  await using pair = await openPair(databaseUrl, redisUrl)
  const { first, second } = pair
  const id = await create(first, 'Gone')
  await waitFor(async () => (await statusAt(second, id)) === 200, soon)
  // The server is killed during the commit.
  await sql`create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end'`
  await sql`create constraint trigger linger after update of deleted_at on stations deferrable initially deferred
    for each row execute function linger()`
  const response = first.ask('DELETE', `/api/admin/station/${id}`).catch((error: unknown) => error)
  await waitFor(
    async () => {
      const [row] = await sql`select from pg_stat_activity where wait_event = 'PgSleep'
        and datname = current_database()`
      return row
    },
    { deadlineMs: 5_000, what: 'the commit to begin' }
  )
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  expect(await response).toBeInstanceOf(Error)
  await waitFor(
    async () => {
      const [row] = await sql<
        { stations: number }[]
      >`select count(*) as stations from stations where deleted_at is null`
      return row?.stations === 0
    },
    { deadlineMs: 5_000, what: 'the commit to end' }
  )
  const position = async () => (await readShardPositions(redis, shardOf(id))).get(id)
  expect(await position()).not.toBe('')
  expect(await statusAt(second, id)).toBe(200)
  const workers = startWorkers(databaseUrl, redisUrl)
  try {
    await waitFor(async () => (await statusAt(second, id)) === 404, {
      deadlineMs: 10_000,
      what: 'the workers to clean up'
    })
    expect(await position()).toBe('')
  } finally {
    workers.kill('SIGKILL')
  }
})
