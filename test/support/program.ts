import { type ChildProcess, spawn } from 'node:child_process'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { wordsFor } from './compiled-program.ts'
import { askPlainly, headersOf } from './plain-http.ts'
import { waitFor } from './wait.ts'
import { shared, startWorkers } from './worker-process.ts'

export const adminKey = '0123456789abcdef:0123456789abcdef0123456789abcdef'

/** A running server and workers, which the test must not end. */
export interface Program {
  readonly baseUrl: string
  readonly dataDir: string
  readonly sql: Sql
  /**
   * Sends a request, by default with a key with all permissions. `from` is the client address. Returns
   * status, headers and parsed JSON.
   */
  readonly ask: (
    method: string,
    path: string,
    options?: { body?: unknown; key?: string; from?: string }
  ) => Promise<{ status: number; headers: Headers; body: JsonBody }>
}

/** A program that belongs to one test. */
export interface RunningProgram extends Program, AsyncDisposable {
  readonly server: ChildProcess
}

// A response can be any JSON; tests fail if it is not as expected.
// oxlint-disable-next-line typescript/no-explicit-any
export type JsonBody = any

type Ask = Program['ask']

/** A server process on a free port. Several servers may share one database and Redis. */
export interface RunningServer extends Disposable {
  readonly baseUrl: string
  readonly process: ChildProcess
  readonly ask: Ask
}

/**
 * Starts a server on the database and Redis of a test, as in production, with additional variables. With a
 * `PORT` that other servers listen on too, it waits for this one. `release` is the folder of another release.
 */
export async function startServer(
  databaseUrl: string,
  redisUrl: string,
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  release?: string
): Promise<RunningServer> {
  const port = variables['PORT'] ?? (await findFreePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const env = {
    ...shared,
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: dataDir,
    PORT: String(port),
    ADMIN_API_KEY: adminKey,
    TRUSTED_PROXIES: '127.0.0.1',
    LOG_LEVEL: 'fatal',
    ...variables
  }
  const child = spawn(process.execPath, wordsFor('src/server.ts', release), {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  await untilReady(child, 'the server')
  return {
    baseUrl,
    process: child,
    ask: askAt(baseUrl),
    [Symbol.dispose]: () => void child.kill('SIGKILL')
  }
}

/**
 * Starts a server and a worker process on the database and Redis of a test. They may send web hooks to this
 * machine.
 */
export async function startProgram(
  databaseUrl: string,
  redisUrl: string,
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  workersVariables: Readonly<Record<string, string>> = {}
): Promise<RunningProgram> {
  const workers = startWorkers(databaseUrl, redisUrl, {
    DATA_DIR: dataDir,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    ...workersVariables
  })
  workers.stderr?.pipe(process.stderr)
  const [server] = await Promise.all([
    startServer(databaseUrl, redisUrl, dataDir, variables),
    untilReady(workers, 'the workers')
  ])
  const program = connectToProgram(server.baseUrl, databaseUrl, dataDir)
  return {
    ...program,
    server: server.process,
    async [Symbol.asyncDispose]() {
      server.process.kill('SIGKILL')
      workers.kill('SIGKILL')
      await program.sql.end({ timeout: 5 })
    }
  }
}

/** A program that was started elsewhere, with a pool of the caller. */
export function connectToProgram(baseUrl: string, databaseUrl: string, dataDir: string): Program {
  return { baseUrl, dataDir, sql: openSql(databaseUrl, { max: 3, name: 'test' }), ask: askAt(baseUrl) }
}

/** Waits for the message that a process sends when it is ready. */
async function untilReady(child: ChildProcess, what: string): Promise<void> {
  let isReady = false
  child.once('message', () => (isReady = true))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  await waitFor(() => hasEnded() || isReady, { deadlineMs: 20_000, what })
  if (hasEnded()) throw new Error(`${what} ended (${child.signalCode ?? child.exitCode})`)
}

function askAt(baseUrl: string): Ask {
  return async (method, path, { body, key = adminKey, from } = {}) => {
    const response = await askPlainly(baseUrl + path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(key === '' ? {} : { 'X-API-Key': key }),
        ...(from === undefined ? {} : { 'X-Forwarded-For': from })
      },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    })
    const text = response.body.toString()
    const isJson = text !== '' && response.headers['content-type']?.startsWith('application/json')
    return { status: response.status, headers: headersOf(response), body: isJson ? JSON.parse(text) : text }
  }
}
