import { createRequire } from 'node:module'

import type * as UWebSockets from 'uWebSockets.js'

import { chooseBinding, explainNoBinding, thisPlatform } from '../../scripts/uws-binding.mjs'
import { OperatorError } from '../runtime/errors.ts'

/*
 * Everything of uWebSockets.js that exists at run time is loaded here, and only here. Types are those of the older
 * version, which have nothing that the newer one lacks.
 */

// Enough for a subscribe message with 128 stations in `cf_connect`. uWebSockets.js reads it once, when it is
// loaded; its own limit is 4 KiB. It counts all headers of a request together, path and query included.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024)

let loaded: typeof UWebSockets | null = null

/**
 * Opens an app without encryption. Throws an `OperatorError` where uWebSockets.js has no binary. An argument
 * that is `undefined` would end the process, so one that was not given is not passed on.
 */
export const App: typeof UWebSockets.App = (...options) => uws().App(...options)

export const us_listen_socket_close: typeof UWebSockets.us_listen_socket_close = socket =>
  uws().us_listen_socket_close(socket)

export const us_socket_local_port: typeof UWebSockets.us_socket_local_port = socket =>
  uws().us_socket_local_port(socket)

function uws(): typeof UWebSockets {
  loaded ??= load()
  return loaded
}

function load(): typeof UWebSockets {
  const platform = thisPlatform()
  const name = chooseBinding(platform)
  if (name === null) throw new OperatorError(explainNoBinding(platform))
  return createRequire(import.meta.url)(name)
}
