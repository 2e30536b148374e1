import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { loadCore, pin, serverCore } from './pin.ts'
import { type Program, startProgram } from './program.ts'
import { seedStations } from './seed.ts'

const adminKey = '00000000000bec00:000000000000000000000000000bec00'
const settleMs = 3_000
const onAirMs = 60_000

/** The program with stations that play. */
export interface OnAir extends Program {
  readonly apiKey: string
  /**
   * Makes a change by the public interface: reports the listeners of a station. Throws unless it was answered
   * 200.
   */
  reportListeners(stationId: number, total: number): Promise<void>
  /** Ends the song on air. */
  skip(stationId: number): Promise<void>
  /** A key with all rights; each may write 100 times a second. */
  createKey(name: string): Promise<string>
}

/**
 * Starts the whole program on an empty folder, fills it and waits until all stations are on air. The server
 * process keeps to one core, all others to the core of the load; one of those is a second server, which takes
 * the changes, so that the first one has nothing to do but to show them. Songs are long unless `songMs` says
 * otherwise, so that documents do not change by themselves.
 */
export async function startOnAir(
  port: number,
  options: { stations: number; songMs?: number; env?: Readonly<Record<string, string>> }
): Promise<OnAir> {
  const { stations, songMs = 3_600_000, env = {} } = options
  const program = await startProgram(port, { core: loadCore, env: { ADMIN_API_KEY: adminKey, ...env } })
  let desk: { readonly baseUrl: string }
  try {
    pin(serverCore, program.serverPid())
    desk = await program.addServer(port + 50, loadCore)
    const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
    await seedStations(sql, { stations, tracks: 60, songMs, firstDueMs: Date.now() + settleMs, played: 5 })
    await sql.end()
    await untilOnAir(program.baseUrl, stations)
    await wait(settleMs)
  } catch (error) {
    await program.stop()
    throw error
  }

  async function ask(method: string, path: string, body: object): Promise<string> {
    const answer = await fetch(desk.baseUrl + path, {
      method,
      headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000)
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }

  return {
    ...program,
    apiKey: adminKey,
    reportListeners: async (stationId, total) => {
      await ask('PUT', `/api/station/${stationId}/listeners`, { total })
    },
    skip: async stationId => {
      await ask('POST', `/api/station/${stationId}/backend/skip`, {})
    },
    createKey: async name => {
      const text = await ask('POST', '/api/v1/main/api-keys', { name, permissions: ['administer all'] })
      const { key }: { key: string } = JSON.parse(text)
      return key
    }
  }
}

async function untilOnAir(baseUrl: string, stations: number): Promise<void> {
  for (const deadline = Date.now() + onAirMs; Date.now() < deadline; await wait(200)) {
    const answer = await fetch(`${baseUrl}/api/nowplaying`, { signal: AbortSignal.timeout(5_000) })
    const documents: unknown[] = JSON.parse(await answer.text())
    if (documents.length === stations) return
  }
  throw new Error(`${stations} stations were not on air within ${onAirMs} ms`)
}
