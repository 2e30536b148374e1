import { OperatorError } from '../errors.ts'
import { commandOf, hasGone, sendSignal, startOf } from './process-identity.ts'

/**
 * Ends a service that an earlier, killed Cuewire left running. `isOurs` looks at the command line, since the pid
 * of an old pid file may belong to anybody by now; a stranger is left alone. Resolves when the process is gone:
 * after its graceful signal, or after 10 seconds by SIGKILL.
 */
export async function stopLeftover(
  pid: number,
  signal: 'SIGINT' | 'SIGTERM',
  isOurs: (command: string) => boolean
): Promise<void> {
  const start = await startOf(pid)
  if (start === undefined || !isOurs(await commandOf(pid))) return
  for (const [name, deadlineMs] of [
    [signal, 10_000],
    ['SIGKILL', 3_000]
  ] as const) {
    sendSignal(pid, name)
    if (await hasGone(pid, start, deadlineMs)) return
  }
  throw new OperatorError(`process ${pid} of an earlier start does not end: stop it, then start again`)
}
