// Reads DATA_DIR, starts both services in it (with `lock` only locks it), writes one line of JSON, and runs
// until it is killed.
import { join } from 'node:path'

import { writeRunningServices, lockDataDir } from '../../src/stores/embedded/data-dir.ts'

const folder = process.argv[2] ?? ''
const only = process.argv[3]
try {
  const lock = await lockDataDir(folder)
  if (only === 'lock') {
    process.stdout.write('{"locked":true}\n')
  } else {
    // Loaded late, so that a process that only locks does not wait for it.
    const { startPostgres } = await import('../../src/stores/embedded/postgres.ts')
    const { startRedis } = await import('../../src/stores/embedded/redis.ts')
    const postgres = await startPostgres(join(folder, 'postgres'), { durable: false })
    const redis = await startRedis(join(folder, 'redis'))
    await writeRunningServices(lock.folder, { databaseUrl: postgres.url, redisUrl: redis.url })
    process.stdout.write(`${JSON.stringify({ postgres: postgres.pid, redis: redis.pid })}\n`)
  }
  setInterval(() => {}, 60_000)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
}
