import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import { killOnExit } from '../children.ts'
import { pinCommand, serverCore } from '../pin.ts'

const startMs = 10_000
const stopMs = 3_000

export interface PeerProcess {
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a server on the server core and waits until it listens. */
export async function startPeer(
  commandLine: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {}
): Promise<PeerProcess> {
  const [command, ...args] = pinCommand(serverCore, commandLine)
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  killOnExit(child)
  const stop = () => terminate(child)
  for (const deadline = Date.now() + startMs; Date.now() < deadline; await wait(50)) {
    if (child.exitCode !== null)
      throw new Error(`${commandLine.join(' ')} exited with code ${child.exitCode}`)
    if (await isListening(port)) return { pid: child.pid ?? 0, stop }
  }
  await stop()
  throw new Error(`${commandLine.join(' ')} did not listen within ${startMs} ms`)
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await exited
  clearTimeout(killer)
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(1_000) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
