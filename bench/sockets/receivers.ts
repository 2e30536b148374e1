import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { loadCore, pinned } from '../pin.ts'
import type { Answer, Command } from './commands.ts'

const answerMs = 120_000

export interface Receiver {
  /** Throws if it could not be done. */
  ask(command: Command): Promise<Answer>
  close(): Promise<void>
}

/**
 * Starts a process that holds WebSocket clients, on the core of the load. One that `yields` runs only when
 * nobody else of that core has something to do: a measuring client beside it must not wait for it.
 */
export function openReceiver({ yields = false } = {}): Receiver {
  const file = fileURLToPath(new URL('receiver.ts', import.meta.url))
  const words = [process.execPath, '--import', 'tsx', file]
  const [command, ...args] = pinned(loadCore, yields ? ['nice', '-n', '19', ...words] : words)
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    ask: async question => {
      const answered = once(child, 'message', { signal: AbortSignal.timeout(answerMs) })
      child.send(question)
      const [answer]: Answer[] = await answered
      if (!answer) throw new Error('the receiver said nothing')
      if (answer.problem !== '') throw new Error(`the receiver: ${answer.problem}`)
      return answer
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    }
  }
}
