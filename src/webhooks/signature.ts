import { createHmac } from 'node:crypto'

import { signingKey } from './signing-secret.ts'

/** What is signed: an id and Unix seconds for the headers, and the exact text that is sent. */
export interface Signed {
  readonly id: string
  readonly at: number
  readonly body: string
}

/**
 * The headers of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks). Each secret signs, so that
 * a receiver that knows any of them can verify; without any there is no signature.
 */
export function signatureHeaders({ id, at, body }: Signed, secrets: readonly string[]) {
  const signatures = secrets.map(secret => {
    const hmac = createHmac('sha256', signingKey(secret))
    return `v1,${hmac.update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    ...(signatures.length > 0 ? { 'webhook-signature': signatures.join(' ') } : {})
  }
}
