import { measureCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startProgramOnAir } from './on-air.ts'
import { positiveInteger, positiveIntegers, seconds } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_231
const socketCounts = positiveIntegers('SOCKETS', [1_000, 2_000, 5_000])
/** k6 parses every frame, so it can receive fewer of them than the receiver of `peers`. */
const changesPerSecond = positiveInteger('RATE', 1)
const openedPerSecond = 500

/**
 * Measures the latency of changes to thousands of sockets that subscribe to one station: `npm run bench --
 * push`. The server runs on one core, k6 on the other. `SOCKETS`, `RATE` and `SECONDS` change the load.
 */
export async function push(): Promise<void> {
  if (findTool('k6', 'push') === null) return
  const program = await startProgramOnAir(port, { stations: 10 })
  try {
    for (const sockets of socketCounts) {
      const printCores = measureCores(program.pid)
      process.exitCode ||=
        (await runK6('push.ts', {
          BASE_URL: program.baseUrl,
          KEY: program.apiKey,
          SOCKETS: String(sockets),
          RATE: String(changesPerSecond),
          SECONDS: String(seconds),
          OPENING_SECONDS: String(Math.ceil(sockets / openedPerSecond) + 2)
        })) ?? 1
      printCores()
    }
  } finally {
    await program.stop()
  }
}
