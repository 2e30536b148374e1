import { measureCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startProgramOnAir } from './on-air.ts'
import { positiveInteger } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_232
const stations = 100
const songMs = 180_000

/**
 * Measures polls, sockets and changes at the same time, while songs end: `npm run bench -- mixed`. The server
 * runs on one core, k6 on the other. `SOCKETS`, `POLLS`, `CHANGES` and `SECONDS` change the load.
 */
export async function mixed(): Promise<void> {
  if (findTool('k6', 'mixed') === null) return
  const program = await startProgramOnAir(port, { stations, songMs })
  try {
    const printCores = measureCores(program.pid)
    process.exitCode ||=
      (await runK6('mixed.ts', {
        BASE_URL: program.baseUrl,
        KEY: program.apiKey,
        STATIONS: String(stations),
        SECONDS: String(positiveInteger('SECONDS', 20))
      })) ?? 1
    printCores()
  } finally {
    await program.stop()
  }
}
