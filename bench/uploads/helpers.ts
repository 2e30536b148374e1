import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { killOnExit } from '../children.ts'
import { loadCore, pinCommand } from '../pin.ts'

/** Starts a process on the load core with low priority, so that it does not delay the clients that measure there. */
export function startHelper(file: string, args: readonly string[] = []): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const node = [process.execPath, '--import', 'tsx', path, ...args]
  const [command, ...rest] = pinCommand(loadCore, ['nice', '-n', '19', ...node])
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  killOnExit(child)
  return child
}

/** Waits for the message of a helper. Throws if it ends before, or after `timeoutMs`. */
export async function messageOf<Message>(child: ChildProcess, timeoutMs: number): Promise<Message> {
  const signal = AbortSignal.timeout(timeoutMs)
  const [message] = await Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a process of the benchmark exited with code ${String(code)}`)
    })
  ])
  return message
}
