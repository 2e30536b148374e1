import { createRequire } from 'node:module'

import type * as UWebSockets from 'uWebSockets.js'
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'

import { chooseBinding, explainNoBinding, thisPlatform } from '../../scripts/uws-binding.mjs'
import { assertPortIsFree } from '../platform/process/ports.ts'
import { OperatorError } from '../platform/runtime/operator-error.ts'

/*
 * The only place that loads uWebSockets.js. The types are those of the older version, which are valid for the
 * newer one.
 */

// Enough for a subscribe message with 128 stations in `cf_connect`; the default is 4 KiB. Limits path, query
// and all headers together. uWebSockets.js reads it when it is loaded.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024)

let loaded: typeof UWebSockets | null = null

/**
 * Opens an app without encryption. Throws an `OperatorError` if uWebSockets.js has no binary for this
 * platform. Missing arguments are not passed on, because an argument `undefined` ends the process.
 */
export const openUwsApp: typeof UWebSockets.App = (...options) => uws().App(...options)

/**
 * Listens on a port; 0 takes a free one. Unless `exclusive`, several processes share the port and the kernel
 * distributes connections. `close` keeps open connections. Throws an `OperatorError` with the reason.
 */
export async function listenOnPort(
  app: TemplatedApp,
  host: string,
  port: number,
  { exclusive }: { exclusive: boolean }
) {
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    // The typings lack host and options together, and the constant for an exclusive port, which is 1.
    Reflect.apply(Reflect.get(app, 'listen'), app, [host, port, exclusive ? 1 : 0, resolve])
  })
  if (socket === false) {
    // uWebSockets.js returns no reason; Node does.
    await assertPortIsFree(host, port)
    throw new OperatorError(`cannot listen on ${host} port ${port}: it was in use for a moment; start again`)
  }
  let isOpen = true
  return {
    port: uws().us_socket_local_port(socket),
    close: (): void => {
      // Closing twice would free the native socket twice.
      if (isOpen) uws().us_listen_socket_close(socket)
      isOpen = false
    }
  }
}

function uws(): typeof UWebSockets {
  if (loaded) return loaded
  const platform = thisPlatform()
  const name = chooseBinding(platform)
  if (name === null) throw new OperatorError(explainNoBinding(platform))
  const library: typeof UWebSockets = createRequire(import.meta.url)(name)
  loaded = library
  return library
}
