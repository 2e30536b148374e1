import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const children = new Set<ChildProcess>()

/** Ends a process when this one ends: after an error, or by a signal that can be heard. */
export function endWithUs(child: ChildProcess): void {
  if (children.size === 0) listen()
  children.add(child)
  child.once('exit', () => {
    children.delete(child)
    if (children.size === 0) forget()
  })
}

function listen(): void {
  process.on('exit', endAll)
  for (const signal of signals) process.on(signal, leave)
}

function forget(): void {
  process.off('exit', endAll)
  for (const signal of signals) process.off(signal, leave)
}

function endAll(): void {
  for (const child of children) child.kill('SIGTERM')
}

function leave(signal: (typeof signals)[number]): void {
  process.exit(128 + constants.signals[signal])
}
