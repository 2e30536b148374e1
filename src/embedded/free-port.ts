import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

import { OperatorError } from '../runtime/errors.ts'

/**
 * Where to look for free ports: below those that systems lend to outgoing connections (from 32768 on with
 * Linux, from 49152 elsewhere). One of those may be lent to anybody while the service that had it restarts.
 */
const [lowest, highest] = [10_000, 32_767]
const attempts = 50

/** A port of 127.0.0.1 that nobody listens on right now. Somebody may be faster: be ready to ask again. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listenOnce(randomInt(lowest, highest + 1))
    } catch (error) {
      if (attempt === attempts) throw error
    }
  }
}

/** Throws an `OperatorError` when somebody listens on this port of 127.0.0.1, or when we may not. */
export async function assertPortIsFree(port: number, what: string): Promise<void> {
  try {
    await listenOnce(port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    const why = code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${String(code)})`
    throw new OperatorError(`port ${port} for ${what} ${why}`, { cause: error })
  }
}

async function listenOnce(port: number): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}
