import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'

import { OperatorError } from '../runtime/errors.ts'
import { assertAddressIsFree } from './port.ts'
import { us_listen_socket_close, us_socket_local_port } from './uws.ts'

/** An open port. `close` takes no new connections; those that are open go on. */
export interface Listening {
  readonly port: number
  readonly close: () => void
}

/**
 * Listens; port 0 takes a free one. Unless `exclusive`, several processes share the port and the kernel
 * spreads connections over them, which also means that a forgotten process goes unnoticed. Throws an
 * `OperatorError` that says why the port cannot be had.
 */
export async function listen(
  app: TemplatedApp,
  host: string,
  port: number,
  { exclusive }: { exclusive: boolean }
): Promise<Listening> {
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    // The typings know neither host and options together nor the constant for an exclusive port, which is 1.
    Reflect.apply(Reflect.get(app, 'listen'), app, [host, port, exclusive ? 1 : 0, resolve])
  })
  if (socket === false) {
    // uWebSockets.js only says no; Node says why.
    await assertAddressIsFree(host, port, 0)
    throw new OperatorError(
      `cannot listen on ${host} port ${port}: somebody had it for a moment; start again`
    )
  }
  let isOpen = true
  return {
    port: us_socket_local_port(socket),
    close: () => {
      // Closing twice would free the native socket twice.
      if (isOpen) us_listen_socket_close(socket)
      isOpen = false
    }
  }
}
