import { watchCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startOnAir } from './on-air.ts'
import { seconds, wholes } from './settings.ts'
import { findTool } from './tools.ts'

const port = 18_230
const stationCounts = wholes('STATIONS', [1, 100, 1_000])
/** Requests a second for one station, and bytes a second for all. */
const oneRate = 2_000
const allBytes = 100e6

/**
 * GET one station and GET all of 1, 100 and 1,000 stations under an open loop: `npm run bench -- get`. The
 * server has a core, k6 the other. `SECONDS` and `STATIONS` change the load.
 */
export async function get(): Promise<void> {
  if (findTool('k6', 'get') === null) return
  for (const stations of stationCounts) {
    const program = await startOnAir(port, { stations })
    try {
      const all = await fetch(`${program.baseUrl}/api/nowplaying`, { signal: AbortSignal.timeout(10_000) })
      const { byteLength } = await all.arrayBuffer()
      const allRate = Math.min(oneRate, Math.floor(allBytes / byteLength))
      for (const [label, path, rate] of [
        [`one of ${stations}`, '/api/nowplaying/1', oneRate],
        [`all of ${stations}, ${byteLength} bytes`, '/api/nowplaying', allRate]
      ] as const) {
        const reportCores = watchCores(program.pid)
        const env = {
          URL: program.baseUrl + path,
          LABEL: label,
          RATE: String(rate),
          SECONDS: String(seconds)
        }
        process.exitCode ||= (await runK6('get.ts', env)) ?? 1
        reportCores()
      }
    } finally {
      await program.stop()
    }
  }
}
