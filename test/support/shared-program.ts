import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'

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
  variables: Readonly<Record<string, string>>
): Promise<Opened<PlacedProgram>> {
  const redis = await openRedisServer()
  const databases = openDatabases(templateUrl)
  const database = await databases.take()
  const folder = await openTempFolder()
  const program = await startProgram(database.url, redis.value, folder.path, variables)
  const close = async () => {
    await program[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
    await databases.close()
    await redis.close()
  }
  return { value: { ...program, databaseUrl: database.url }, close }
}

/** Returns a URL for `connectToSharedProgram`. The program is started on the first request. */
export async function serveSharedProgram(templateUrl: string): Promise<Opened<string>> {
  let opening: Promise<Opened<PlacedProgram>> | undefined
  const lend = async (answer: ServerResponse): Promise<void> => {
    opening ??= openProgram(templateUrl, {})
    try {
      const { baseUrl, databaseUrl, dataDir } = (await opening).value
      answer.end(JSON.stringify({ baseUrl, databaseUrl, dataDir } satisfies Place))
    } catch (error) {
      answer.writeHead(500).end(String(error))
    }
  }
  const server = await startWebServer()
  server.answer((_, answer) => void lend(answer))
  const close = async () => {
    await server[Symbol.asyncDispose]()
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
