import { StorageFault } from './fault.ts'

/** What to throw once a signal is aborted: a fault when its time was up, else its own reason (say a shutdown). */
export function reasonOf(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason
  return reason instanceof Error && reason.name === 'TimeoutError' ? new StorageFault('timed_out') : reason
}

/** Throws the `reasonOf` a signal that is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal)
}

/** Waits for `promise`, but no longer than the signal allows; what it waited for may go on unheard. */
export async function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(reasonOf(signal))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
