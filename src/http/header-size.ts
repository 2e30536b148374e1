/**
 * How long the headers of a request may be together, its path and query included: enough for a subscribe message with
 * 128 stations in `cf_connect`. uWebSockets.js reads it from the environment, once, when it is loaded (its own limit is
 * 4 KiB), so this has to be imported before it.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024)
