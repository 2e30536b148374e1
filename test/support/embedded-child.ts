// Takes DATA_DIR, starts both services in it, writes one line of JSON, and stays until it is killed.
import { join } from 'node:path'

import { announceServices, lockDataDir } from '../../src/embedded/data-dir.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { startRedis } from '../../src/embedded/redis.ts'

const folder = process.argv[2] ?? ''
const only = process.argv[3]
try {
  const lock = await lockDataDir(folder)
  if (only === 'lock') {
    process.stdout.write('{"locked":true}\n')
  } else {
    const postgres = await startPostgres(join(folder, 'postgres'), { durable: false })
    const redis = await startRedis(join(folder, 'redis'))
    await announceServices(lock.folder, { databaseUrl: postgres.url, redisUrl: redis.url })
    process.stdout.write(`${JSON.stringify({ postgres: postgres.pid, redis: redis.pid })}\n`)
  }
  setInterval(() => {}, 60_000)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
}
