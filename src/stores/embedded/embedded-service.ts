import { setTimeout as sleep } from 'node:timers/promises'

import { assertPortIsFree, findFreePort } from '../../platform/process/ports.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { type GuardedProcess, summarizeOutput } from './guarded-process.ts'

/** Long enough for recovery after a crash, or for loading a large append-only file. */
const readyMs = 30_000

export interface EmbeddedServiceOptions {
  /** A free one by default. */
  readonly port?: number | undefined
  /** Stops the service when aborted, also during its start, which then rejects. */
  readonly signal?: AbortSignal | undefined
}

/** A Postgres or Redis on 127.0.0.1 that this process started and that ends with it. */
export interface EmbeddedService
  extends AsyncDisposable, Pick<GuardedProcess, 'pid' | 'exited' | 'lastOutput' | 'stop'> {
  /** Contains the password: never log it. */
  readonly url: string
  readonly port: number
}

export interface EmbeddedProgram {
  readonly name: string
  readonly folder: string
  /** Stops a leftover of an earlier start, which may use the same port. */
  readonly stopLeftoverProcess: () => Promise<void>
  /** Prepares the folder. Returns how to start the program. */
  readonly prepare: () => Promise<(port: number) => Promise<GuardedProcess>>
  /** Returns false if the program has exited or `timeoutMs` is over. */
  readonly waitUntilReady: (guarded: GuardedProcess, port: number, timeoutMs: number) => Promise<boolean>
  readonly urlOf: (port: number) => string
}

/** Starts a program; retries while the port is taken. Throws an `OperatorError` if it is not ready. */
export async function startEmbeddedService(
  givenPort: number | undefined,
  { name, folder, stopLeftoverProcess, prepare, waitUntilReady, urlOf }: EmbeddedProgram
): Promise<EmbeddedService> {
  await stopLeftoverProcess()
  if (givenPort !== undefined) await assertPortIsFree('127.0.0.1', givenPort, { name: `${name} port` })
  const start = await prepare()
  const deadline = Date.now() + readyMs
  for (;;) {
    const port = givenPort ?? (await findFreePort())
    const guarded = await start(port)
    if (await waitUntilReady(guarded, port, deadline - Date.now())) {
      const { pid, exited, lastOutput, stop } = guarded
      return { url: urlOf(port), port, pid, exited, lastOutput, stop, [Symbol.asyncDispose]: stop }
    }
    const hasExited = guarded.hasExited()
    await guarded.stop()
    const output = guarded.lastOutput()
    // Another program may have taken the port. The processes of a killed Postgres need a moment to exit.
    const isTemporary = /Address already in use|shared memory block/.test(output)
    if (!hasExited || !isTemporary || Date.now() >= deadline) {
      const what = hasExited ? 'ended' : `was not ready after ${readyMs / 1000} seconds`
      throw new OperatorError(`the embedded ${name} in ${folder} ${what}: ${summarizeOutput(output)}`)
    }
    await sleep(100)
  }
}
