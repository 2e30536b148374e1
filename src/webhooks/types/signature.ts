import { createHmac, randomBytes } from 'node:crypto'

/**
 * The headers of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), with a signature
 * per secret; without secrets there is no signature header. `at` is in Unix seconds.
 */
export function signatureHeaders(
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
  secrets: readonly string[]
) {
  const signatures = secrets.map(secret => {
    const hmac = createHmac('sha256', decodeSecret(secret))
    return `v1,${hmac.update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    ...(signatures.length > 0 ? { 'webhook-signature': signatures.join(' ') } : {})
  }
}

const prefix = 'whsec_'

/** Generates a secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const generateSigningSecret = (): string => prefix + randomBytes(32).toString('base64')

const decodeSecret = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64')

/** Whether a text is `whsec_` and the base64 of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const bytes = decodeSecret(text)
  // The decoder is lenient.
  const isCanonical = text === prefix + bytes.toString('base64')
  return isCanonical && bytes.length >= 24 && bytes.length <= 64
}
