import { watchCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startOnAir } from './on-air.ts'
import { seconds, whole, wholes } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_231
const socketCounts = wholes('SOCKETS', [1_000, 2_000, 5_000])
/** k6 looks into every frame, so it takes fewer of them than the receiver of `peers`. */
const changesPerSecond = whole('RATE', 1)
const openedPerSecond = 500

/**
 * The latency of a change at thousands of sockets that follow one station: `npm run bench -- push`. The
 * server has a core, k6 the other. `SOCKETS`, `RATE` and `SECONDS` change the load.
 */
export async function push(): Promise<void> {
  if (findTool('k6', 'push') === null) return
  const program = await startOnAir(port, { stations: 10 })
  try {
    for (const sockets of socketCounts) {
      const reportCores = watchCores(program.pid)
      process.exitCode ||=
        (await runK6('push.ts', {
          BASE_URL: program.baseUrl,
          KEY: program.apiKey,
          SOCKETS: String(sockets),
          RATE: String(changesPerSecond),
          SECONDS: String(seconds),
          OPENING_SECONDS: String(Math.ceil(sockets / openedPerSecond) + 2)
        })) ?? 1
      reportCores()
    }
  } finally {
    await program.stop()
  }
}
