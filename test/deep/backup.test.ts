import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import type { FileStore } from '../../src/library/storage/file-store.ts'
import { openRemoteFiles, type RemoteLocation } from '../../src/library/storage/remote-files.ts'
import { runScheduledBackup } from '../../src/upkeep/archives/scheduled-backup.ts'
import { processRunner } from '../support/command.ts'
import { openEmptyDatabase } from '../support/empty-database.ts'
import { test } from '../support/fixtures.ts'
import { openRedisServer } from '../support/opened.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { resources } from '../support/resources.ts'
import { startS3 } from '../support/s3.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { startSshd } from '../support/sshd.ts'
import { seedStations } from '../support/stations.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { shared, startWorkers } from '../support/worker-process.ts'

const stations = 1_000
const comparedStations = 20
const run = processRunner('src/commands/backup/main.ts')

/** The paths of all lists, of stations for some stations. */
function listPaths(stationIds: readonly number[]): string[] {
  const lists = resources.map(({ paths }) => paths.list)
  return [
    '/api/admin/stations',
    ...lists.filter(path => !path.includes(':')),
    ...lists
      .filter(path => path.includes(':station_id'))
      .flatMap(path => stationIds.map(id => path.replace(':station_id', String(id)))),
    ...stationIds.flatMap(id => [`/api/station/${id}/queue`, `/api/station/${id}/history`])
  ]
}

test.runIf(isDeep)(
  'of 1,000 stations that play, a backup under load is restored elsewhere with the same records, and they play on',
  async ({ databaseUrl, redisUrl, sql }) => {
    const seeded = await seedStations(sql, { stations, tracks: 10, songMs: 20_000 })
    const ids = seeded.map(({ id }) => id)
    const folder = await scratchFolder()
    const to = await scratchFolder()
    const variables = { BASE_URL: 'http://radio.test' }
    const workers = startWorkers(databaseUrl, redisUrl, { DATA_DIR: folder })
    const compared = ids.filter((_, index) => index % Math.floor(stations / comparedStations) === 0)
    {
      using server = await startServer(databaseUrl, redisUrl, folder, variables)
      await waitFor(async () => (await playing(server)) === stations, {
        deadlineMs: 60_000,
        what: 'all stations'
      })
      const underLoad = join(folder, 'under-load.tar.gz')
      const backup = await run({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, 'backup', underLoad)
      expect(backup).toMatchObject({ code: 0, stdout: expect.stringContaining('without differences') })
      workers.kill('SIGTERM')
      await once(workers, 'exit')
    }
    const archive = join(folder, 'quiet.tar.gz')
    expect(await run({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, 'backup', archive)).toMatchObject({
      code: 0
    })
    const empty = await openEmptyDatabase()
    const redis = await openRedisServer()
    const env = { ...shared, DATABASE_URL: empty.value.url, REDIS_URL: redis.value, DATA_DIR: to }
    const restore = (file: string) => run(env, 'restore', '--replace', file)
    expect(await restore(join(folder, 'under-load.tar.gz'))).toMatchObject({ code: 0 })
    expect(await restore(archive)).toMatchObject({ code: 0 })
    {
      using before = await startServer(databaseUrl, redisUrl, folder, variables)
      using after = await startServer(empty.value.url, redis.value, to, variables)
      for (const path of listPaths(compared)) {
        const [one, other] = [await before.ask('GET', path), await after.ask('GET', path)]
        expect([path, one.status]).toEqual([path, 200])
        expect([path, other.body]).toEqual([path, one.body])
      }
      const restored = startWorkers(empty.value.url, redis.value, { DATA_DIR: to })
      await waitFor(async () => (await playing(after)) === stations, {
        deadlineMs: 60_000,
        what: 'all stations again'
      })
      restored.kill('SIGKILL')
    }
    await redis.close()
    await empty.close()
  },
  300_000
)

const remotes = {
  async s3() {
    const server = await startS3()
    return { server, location: { adapter: 's3', path: 'radio/one', ...server.settings } as const }
  },
  async sftp() {
    const server = await startSshd()
    const { host, port, username, privateKey, folder: path } = server
    const account = { host, port, username, password: '', privateKey, privateKeyPassPhrase: '' }
    return { server, location: { adapter: 'sftp', path, ...account } as const }
  }
} satisfies Record<string, () => Promise<{ server: AsyncDisposable; location: RemoteLocation }>>

test.runIf(isDeep).for(['s3', 'sftp'] as const)(
  'scheduled backups in storage of type %s: the newest are kept, and one of them is restored',
  { timeout: 120_000 },
  async (adapter, { databaseUrl, sql }) => {
    const { server, location } = await remotes[adapter]()
    onTestFinished(async () => server[Symbol.asyncDispose]())
    const files = openRemoteFiles(location)
    await seedStations(sql, { stations: 2, tracks: 4 })
    const folder = await scratchFolder()
    const deps = {
      sql,
      env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DATA_DIR: folder },
      config: { BACKUP_STORAGE: '7', BACKUP_KEEP: 2, DATA_DIR: folder },
      openFiles: async () => files,
      signal: AbortSignal.timeout(100_000)
    }
    const names: string[] = []
    for (const minute of [0, 1, 2]) {
      const name = await runScheduledBackup(deps, new Date(Date.UTC(2026, 10, 26, 3, minute)))
      names.push(`backups/${name}`)
    }
    const stored = await Promise.all(names.map(files.stat))
    expect(stored.map(file => file !== null)).toEqual([false, true, true])

    const archive = join(folder, 'downloaded.tar.gz')
    await download(files, names[2] ?? '', archive)
    const empty = await openEmptyDatabase()
    const redis = await openRedisServer()
    const env = {
      DATABASE_URL: empty.value.url,
      REDIS_URL: redis.value,
      DATA_DIR: await scratchFolder()
    }
    expect(await run(env, 'restore', archive)).toMatchObject({ code: 0 })
    const countSongs = 'select count(*) as songs, min(title) as first, max(title) as last from media'
    expect([...(await empty.value.sql.unsafe(countSongs))]).toEqual([...(await sql.unsafe(countSongs))])
    await redis.close()
    await empty.close()
  }
)

async function download(files: FileStore, path: string, target: string): Promise<void> {
  const size = (await files.stat(path))?.sizeBytes ?? 0
  await using file = await open(target, 'w')
  for (let offset = 0; offset < size;) {
    const bytes = await files.read(path, offset, 64 * 1024)
    expect(bytes.length).toBeGreaterThan(0)
    await file.write(bytes, 0, bytes.length, offset)
    offset += bytes.length
  }
}

/** The number of stations with a current song that is not over. */
async function playing(server: RunningServer): Promise<number> {
  const { body } = await server.ask('GET', '/api/nowplaying')
  const records: { now_playing: { played_at: number; duration: number } | null }[] = body
  const nowSeconds = Date.now() / 1_000
  return records.filter(
    ({ now_playing: now }) => now !== null && now.played_at + now.duration > nowSeconds - 5
  ).length
}
