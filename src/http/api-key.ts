import type { HttpRequest } from 'uWebSockets.js'

/** The key in `X-API-Key`, `Authorization: Bearer` or `X-Liquidsoap-Api-Key`; empty if none. */
export function readApiKey(req: HttpRequest): string {
  return (
    req.getHeader('x-api-key') ||
    (/^bearer +(\S+)\s*$/i.exec(req.getHeader('authorization'))?.[1] ?? '') ||
    req.getHeader('x-liquidsoap-api-key')
  )
}
