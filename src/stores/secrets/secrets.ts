import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts secrets for storage in a database. */
export type Secrets = ReturnType<typeof openSecrets>

const prefix = 'v1.'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM with random nonces, safe for 2^32 texts per key (NIST SP 800-38D, 8.3). */
export function openSecrets(key: Uint8Array) {
  if (key.length !== keyBytes) throw new Error(`the key has ${key.length} bytes instead of ${keyBytes}`)
  const ownKey = Uint8Array.from(key)
  return {
    /** Derives a key of 32 bytes for another purpose (HKDF-SHA256). */
    deriveKey: (purpose: string): Uint8Array =>
      new Uint8Array(hkdfSync('sha256', ownKey, '', `cuewire ${purpose}`, keyBytes)),
    /**
     * Returns `v1.` and base64url of nonce, ciphertext and tag. The purpose (a table and column) is
     * authenticated but not stored, so a sealed text cannot be moved to another column.
     */
    seal: (text: string, purpose: string): string => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', ownKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(purpose))
      const body = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return prefix + Buffer.concat(body).toString('base64url')
    },
    /** Throws if the text was modified, or sealed for another purpose or with another key. */
    open: (sealed: string, purpose: string): string => {
      const body = Buffer.from(sealed.slice(prefix.length), 'base64url')
      // The decoder ignores invalid characters, so only text that encodes to itself is accepted.
      const isValid = body.length >= nonceBytes + tagBytes && prefix + body.toString('base64url') === sealed
      if (!isValid) throw new Error('the text is not a sealed secret')
      const decipher = createDecipheriv('aes-256-gcm', ownKey, body.subarray(0, nonceBytes), {
        authTagLength: tagBytes
      })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(body.subarray(-tagBytes))
      try {
        const text = decipher.update(body.subarray(nonceBytes, -tagBytes))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        throw new Error('a secret cannot be opened: it was modified, or sealed with another key or purpose')
      }
    }
  }
}
