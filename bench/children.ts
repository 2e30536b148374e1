import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const children = new Set<ChildProcess>()

/** Sends SIGTERM to a child when this process exits: normally, by an error, or by a signal it can handle. */
export function killOnExit(child: ChildProcess): void {
  if (children.size === 0) addHandlers()
  children.add(child)
  child.once('exit', () => {
    children.delete(child)
    if (children.size === 0) removeHandlers()
  })
}

function addHandlers(): void {
  process.on('exit', killChildren)
  for (const signal of signals) process.on(signal, exitBySignal)
}

function removeHandlers(): void {
  process.off('exit', killChildren)
  for (const signal of signals) process.off(signal, exitBySignal)
}

function killChildren(): void {
  for (const child of children) child.kill('SIGTERM')
}

function exitBySignal(signal: (typeof signals)[number]): void {
  process.exit(128 + constants.signals[signal])
}
