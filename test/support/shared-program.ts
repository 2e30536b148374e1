import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { openDatabases } from './databases.ts'
import { type Opened, openRedisServer } from './opened.ts'
import { askPlainly } from './plain-http.ts'
import { type Program, connectToProgram, type RunningProgram, startProgram } from './program.ts'
import { openTempFolder } from './temp-folder.ts'
import { startWebServer } from './web-server.ts'

/** The data needed to connect to a program. */
interface Place {
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly dataDir: string
}

interface PlacedProgram extends RunningProgram, Place {}

/** Starts a program with its own database and Redis. */
export async function openProgram(
  templateUrl: string,
  variables: Readonly<Record<string, string>>,
  workersVariables: Readonly<Record<string, string>> = {}
): Promise<Opened<PlacedProgram>> {
  const redis = await openRedisServer()
  const databases = openDatabases(templateUrl)
  const database = await databases.take()
  const folder = await openTempFolder()
  const program = await startProgram(database.url, redis.value, folder.path, variables, workersVariables)
  const close = async () => {
    await program[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
    await databases.close()
    await redis.close()
  }
  return { value: { ...program, databaseUrl: database.url }, close }
}

const vacuumMs = 10_000

/**
 * The tests' Postgres has no autovacuum, and the stations of all files play on: without vacuum, the search for silent
 * stations passes over thousands of their former rows, and takes half a core after some minutes.
 */
function keepVacuumed({ sql }: Program): () => Promise<void> {
  const life = new AbortController()
  const repeat = async () => {
    while (!life.signal.aborted) {
      await sleep(vacuumMs, undefined, { signal: life.signal })
      // A test may hold a lock for longer than a statement waits; the next round tries again.
      await sql`vacuum (analyze) stations, song_history, queue, libraries`.catch(() => {})
    }
  }
  const running = repeat().catch(() => {})
  return async () => {
    life.abort()
    await running
  }
}

/** Returns a URL for `connectToSharedProgram`. The program is started on the first request. */
export async function serveSharedProgram(templateUrl: string): Promise<Opened<string>> {
  let opening: Promise<Opened<PlacedProgram>> | undefined
  let stopVacuum: (() => Promise<void>) | undefined
  const lend = async (response: ServerResponse): Promise<void> => {
    opening ??= openProgram(templateUrl, {})
    try {
      stopVacuum ??= keepVacuumed((await opening).value)
      const { baseUrl, databaseUrl, dataDir } = (await opening).value
      response.end(JSON.stringify({ baseUrl, databaseUrl, dataDir } satisfies Place))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }
  const server = await startWebServer()
  server.respondWith((_, response) => void lend(response))
  const close = async () => {
    await server[Symbol.asyncDispose]()
    await stopVacuum?.()
    const opened = await opening?.catch(() => undefined)
    await opened?.close()
  }
  return { value: server.url, close }
}

/** The program that all files share. */
export async function connectToSharedProgram(url: string): Promise<Opened<Program>> {
  const { status, body } = await askPlainly(url)
  const text = body.toString()
  if (status !== 200) throw new Error(`the shared program did not start: ${text}`)
  const { baseUrl, databaseUrl, dataDir }: Place = JSON.parse(text)
  const program = connectToProgram(baseUrl, databaseUrl, dataDir)
  return { value: program, close: async () => program.sql.end({ timeout: 5 }) }
}

/** The same program with a separate client address, because requests are limited per address. */
export function withOwnAddress(program: Program): Program {
  const from = `198.19.${randomInt(256)}.${randomInt(256)}`
  return { ...program, ask: (method, path, options) => program.ask(method, path, { from, ...options }) }
}
