import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { loadCore, pinProcess, serverCore } from './pin.ts'
import { type Program, startProgram } from './program.ts'
import { seedStations } from './seed.ts'

const adminKey = '00000000000bec00:000000000000000000000000000bec00'
const settleMs = 3_000
const onAirMs = 60_000

/** The program with playing stations. */
export interface ProgramOnAir extends Program {
  readonly apiKey: string
  /** Reports the listener count of a station by the REST API. Throws if the response is not 200. */
  reportListeners(stationId: number, total: number): Promise<void>
  /** Skips the current song of a station. */
  skip(stationId: number): Promise<void>
  /** Creates an API key with all permissions. A key may write 100 times a second. */
  createKey(name: string): Promise<string>
}

/**
 * Starts the whole program with an empty data folder, creates stations and waits until all of them play. The
 * measured server process runs on one core and everything else on the load core, including a second server
 * that receives the writes. `songMs` is an hour by default, so that no song ends during a measurement.
 */
export async function startProgramOnAir(
  port: number,
  options: { stations: number; songMs?: number; env?: Readonly<Record<string, string>> }
): Promise<ProgramOnAir> {
  const { stations, songMs = 3_600_000, env = {} } = options
  const program = await startProgram(port, { core: loadCore, env: { ADMIN_API_KEY: adminKey, ...env } })
  let writeServer: { readonly baseUrl: string }
  try {
    pinProcess(serverCore, program.serverPid())
    writeServer = await program.addServer(port + 50, loadCore)
    const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
    await seedStations(sql, { stations, tracks: 60, songMs, dueInMs: settleMs, played: 5 })
    await sql.end()
    await waitUntilOnAir(program.baseUrl, stations)
    await wait(settleMs)
  } catch (error) {
    await program.stop()
    throw error
  }

  async function sendRequest(method: string, path: string, body: object): Promise<string> {
    const response = await fetch(writeServer.baseUrl + path, {
      method,
      headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }

  return {
    ...program,
    apiKey: adminKey,
    reportListeners: async (stationId, total) => {
      await sendRequest('PUT', `/api/station/${stationId}/listeners`, { total })
    },
    skip: async stationId => {
      await sendRequest('POST', `/api/station/${stationId}/backend/skip`, {})
    },
    createKey: async name => {
      const text = await sendRequest('POST', '/api/v1/main/api-keys', {
        name,
        permissions: ['administer all']
      })
      const { key }: { key: string } = JSON.parse(text)
      return key
    }
  }
}

async function waitUntilOnAir(baseUrl: string, stations: number): Promise<void> {
  for (const deadline = Date.now() + onAirMs; Date.now() < deadline; await wait(200)) {
    const response = await fetch(`${baseUrl}/api/nowplaying`, { signal: AbortSignal.timeout(5_000) })
    const documents: unknown[] = JSON.parse(await response.text())
    if (documents.length === stations) return
  }
  throw new Error(`GET /api/nowplaying did not list ${stations} stations within ${onAirMs} ms`)
}
