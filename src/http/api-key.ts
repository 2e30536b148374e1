import type { HttpRequest } from 'uWebSockets.js'

/**
 * The key as sent in `X-API-Key`, `Authorization: Bearer` or, by a playout, `X-Liquidsoap-Api-Key`; empty if
 * there is none.
 */
export function apiKeyOf(req: HttpRequest): string {
  return (
    req.getHeader('x-api-key') ||
    bearerOf(req.getHeader('authorization')) ||
    req.getHeader('x-liquidsoap-api-key')
  )
}

function bearerOf(header: string): string {
  return /^bearer +(\S+)\s*$/i.exec(header)?.[1] ?? ''
}
