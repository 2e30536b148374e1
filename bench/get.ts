import { measureCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startProgramOnAir } from './on-air.ts'
import { positiveIntegers, seconds } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_230
const stationCounts = positiveIntegers('STATIONS', [1, 100, 1_000])
/** Requests per second for one station; bytes per second for all stations. */
const oneRate = 2_000
const allBytes = 100e6

/**
 * Measures GET of one station and of all stations, with 1, 100 and 1,000 stations, at a constant rate: `npm
 * run bench -- get`. The server runs on one core, k6 on the other. `SECONDS` and `STATIONS` change the load.
 */
export async function get(): Promise<void> {
  if (findTool('k6', 'get') === null) return
  for (const stations of stationCounts) {
    const program = await startProgramOnAir(port, { stations })
    try {
      const all = await fetch(`${program.baseUrl}/api/nowplaying`, { signal: AbortSignal.timeout(10_000) })
      const { byteLength } = await all.arrayBuffer()
      const allRate = Math.min(oneRate, Math.floor(allBytes / byteLength))
      for (const [label, path, rate] of [
        [`one of ${stations}`, '/api/nowplaying/1', oneRate],
        [`all of ${stations}, ${byteLength} bytes`, '/api/nowplaying', allRate]
      ] as const) {
        const printCores = measureCores(program.pid)
        const env = {
          URL: program.baseUrl + path,
          LABEL: label,
          RATE: String(rate),
          SECONDS: String(seconds)
        }
        process.exitCode ||= (await runK6('get.ts', env)) ?? 1
        printCores()
      }
    } finally {
      await program.stop()
    }
  }
}
