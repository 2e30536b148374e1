import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { errorCodeOf } from '../runtime/errors.ts'
import { AdvisedError } from '../runtime/operator-error.ts'

/**
 * Below the ephemeral ports, which start at 32768 on Linux and at 49152 elsewhere: an outgoing connection could take
 * one of those while its service restarts. Above 10080, which `fetch` and browsers refuse ("bad port" of the Fetch
 * Standard).
 */
const [lowest, highest] = [10_081, 32_767]
const attempts = 50

/** Returns a free port of 127.0.0.1. Another program may take it meanwhile, so callers must retry. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const port = randomInt(lowest, highest + 1)
    if ((await findListenError('127.0.0.1', port)) === null) return port
  }
  throw new Error(`no free port found after ${attempts} attempts`)
}

/**
 * Throws an `AdvisedError` if it is not possible to listen on this address. Retries until
 * the timeout while the port is in use, as for a moment after its program was killed.
 */
export async function assertPortIsFree(
  host: string,
  port: number,
  { name = 'PORT', timeoutMs = 0 }: { name?: string; timeoutMs?: number } = {}
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const code = await findListenError(host, port)
    if (code === null) return
    if (code !== 'EADDRINUSE' || Date.now() > deadline)
      throw explainListenError(code, {
        host,
        hostName: name.replace('PORT', 'HOST'),
        port: `${name} ${port}`
      })
    await sleep(50)
  }
}

/** Returns the code of the error of listening on an address, or null. */
async function findListenError(host: string, port: number): Promise<string | null> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', error => resolve(errorCodeOf(error) || error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** `port`: its variable and value. */
function explainListenError(
  code: string,
  { host, hostName, port }: { readonly host: string; readonly hostName: string; readonly port: string }
): AdvisedError {
  if (code === 'EADDRINUSE')
    return new AdvisedError(
      `${port} is in use on ${host}`,
      'stop the program that listens there, or choose another port'
    )
  if (code === 'EACCES')
    return new AdvisedError(`${port} needs more permissions than this user has`, 'choose 1024 or higher')
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new AdvisedError(`${hostName} ${host} is not an address of this machine`, 'correct it')
  return new AdvisedError(`cannot listen on ${host}, ${port} (${code})`, `correct ${hostName} and the port`)
}
