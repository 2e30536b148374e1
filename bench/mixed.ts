import { watchCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startOnAir } from './on-air.ts'
import { whole } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_232
const stations = 100
const songMs = 180_000

/**
 * Polls, sockets and changes at once, while songs end: `npm run bench -- mixed`. The server has a core, k6
 * the other. `SOCKETS`, `POLLS`, `CHANGES` and `SECONDS` change the load.
 */
export async function mixed(): Promise<void> {
  if (findTool('k6', 'mixed') === null) return
  const program = await startOnAir(port, { stations, songMs })
  try {
    const reportCores = watchCores(program.pid)
    process.exitCode ||=
      (await runK6('mixed.ts', {
        BASE_URL: program.baseUrl,
        KEY: program.apiKey,
        STATIONS: String(stations),
        SECONDS: String(whole('SECONDS', 20))
      })) ?? 1
    reportCores()
  } finally {
    await program.stop()
  }
}
