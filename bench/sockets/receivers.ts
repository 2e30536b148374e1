import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { loadCore, pinCommand } from '../pin.ts'
import type { Command, ReceiverReport } from './commands.ts'

const timeoutMs = 120_000

export interface Receiver {
  /** Throws if the command fails. */
  run(command: Command): Promise<ReceiverReport>
  close(): Promise<void>
}

/**
 * Starts a process with WebSocket clients on the load core. With `isLowPriority` it runs with `nice -n 19`,
 * so that it does not delay a measuring client on the same core. Without `isPinned` it may use all cores.
 */
export function openReceiver({ isLowPriority = false, isPinned = true } = {}): Receiver {
  const file = fileURLToPath(new URL('receiver.ts', import.meta.url))
  const node = [process.execPath, '--import', 'tsx', file]
  const prioritized = isLowPriority ? ['nice', '-n', '19', ...node] : node
  const [command = '', ...args] = isPinned ? pinCommand(loadCore, prioritized) : prioritized
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    run: async request => {
      const replied = once(child, 'message', { signal: AbortSignal.timeout(timeoutMs) })
      child.send(request)
      const [report]: ReceiverReport[] = await replied
      if (!report) throw new Error(`the receiver sent no report for "${request.type}"`)
      if (report.error !== '') throw new Error(`receiver: "${request.type}" failed: ${report.error}`)
      return report
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    }
  }
}
