// Starts a Redis in a folder, writes one line of JSON, and runs until it is killed.
import { startRedis } from '../../src/stores/embedded/redis.ts'

const { url, pid } = await startRedis(process.argv[2] ?? '')
process.stdout.write(`${JSON.stringify({ url, pid, uid: process.getuid?.() })}\n`)
