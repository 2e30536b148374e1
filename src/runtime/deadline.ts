/** A wait that reached its deadline. */
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
