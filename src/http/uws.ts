import { createRequire } from 'node:module'

import type * as UWebSockets from 'uWebSockets.js'

/*
 * Everything of uWebSockets.js that exists at run time is loaded here, and only here. Types come from the package.
 */

// Enough for a subscribe message with 128 stations in `cf_connect`. uWebSockets.js reads it once, when it is loaded; its
// own limit is 4 KiB. It counts all headers of a request together, path and query included.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024)

const uws: typeof UWebSockets = createRequire(import.meta.url)('uWebSockets.js')

export const { App, us_listen_socket_close, us_socket_local_port } = uws
