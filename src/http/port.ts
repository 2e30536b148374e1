import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { OperatorError } from '../runtime/errors.ts'

/**
 * Throws an `OperatorError` that says why this address cannot be listened on. One in use is asked again for a
 * while, since processes of a program that was just killed need a moment to end.
 */
export async function assertAddressIsFree(host: string, port: number, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const code = await whyNot(host, port)
    if (code === null) return
    if (code !== 'EADDRINUSE' || Date.now() > deadline) throw new OperatorError(sentence(code, host, port))
    await sleep(50)
  }
}

async function whyNot(host: string, port: number): Promise<string | null> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', error => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

function sentence(code: string, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `port ${port} is in use on ${host}: stop what listens there, or set PORT to another one`
  if (code === 'EACCES')
    return `port ${port} needs more rights than this user has: set PORT to 1024 or higher`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST ${host} is not an address of this machine: correct it`
  return `cannot listen on ${host} port ${port} (${code}): set HOST and PORT to what can be listened on`
}
