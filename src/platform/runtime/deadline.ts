export class DeadlineExceeded extends Error {}

/** Rejects with `DeadlineExceeded` when `run` has not settled after `ms`. */
export async function withDeadline<T>(ms: number, what: string, run: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineExceeded(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([run(), deadline])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Calls `run` with a signal that is aborted with `signal`, or after `ms` with the error of `createError`. In
 * Node.js 20, a timeout in `AbortSignal.any` may be collected as garbage and never fire.
 */
export async function withAbortTimeout<T>(
  signal: AbortSignal | undefined,
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
  createError: () => Error = () => new DOMException('timed out', 'TimeoutError')
): Promise<T> {
  const limit = new AbortController()
  const stop = () => limit.abort(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => limit.abort(createError()), ms)
  try {
    return await run(limit.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
