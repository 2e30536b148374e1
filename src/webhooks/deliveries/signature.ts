import { createHmac, randomBytes } from 'node:crypto'

/** What is signed: an id and Unix seconds for the headers, and the exact text that is sent. */
export interface Signed {
  readonly id: string
  readonly at: number
  readonly body: string
}

/**
 * The headers of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks). Each secret
 * signs, so that a receiver that knows any of them can verify; without any there is no signature.
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

const prefix = 'whsec_'

/** A new secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** The bytes that a secret stands for. */
function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64')
}

/** Whether a text is `whsec_` and the base64 of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const bytes = signingKey(text)
  // The decoder is lenient.
  const isWhole = text === prefix + bytes.toString('base64')
  return isWhole && bytes.length >= 24 && bytes.length <= 64
}
