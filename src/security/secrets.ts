import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Seals secrets that must be used again, for keeping in a database. */
export interface Secrets {
  /**
   * `v1.` and base64url of nonce, ciphertext and tag. The purpose (say `storage_locations.sftp_password`) is
   * not kept in it: only who names the same can open it, so a sealed text cannot be moved to another place.
   */
  seal(text: string, purpose: string): string
  /** Throws when the text was altered, sealed for another purpose, or sealed with another key. */
  open(sealed: string, purpose: string): string
}

const prefix = 'v1.'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM with a random nonce each time; good for 2^32 texts under one key (NIST SP 800-38D, 8.3). */
export function openSecrets(key: Uint8Array): Secrets {
  if (key.length !== keyBytes) throw new Error(`the key has ${key.length} bytes instead of ${keyBytes}`)
  const own = Uint8Array.from(key)
  return {
    seal: (text, purpose) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', own, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(purpose))
      const body = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return prefix + Buffer.concat(body).toString('base64url')
    },
    open: (sealed, purpose) => {
      const body = Buffer.from(sealed.slice(prefix.length), 'base64url')
      // The decoder is lenient; only what `seal` writes is accepted.
      const isWhole = body.length >= nonceBytes + tagBytes && prefix + body.toString('base64url') === sealed
      if (!isWhole) throw new Error('this is no sealed secret')
      const decipher = createDecipheriv('aes-256-gcm', own, body.subarray(0, nonceBytes), {
        authTagLength: tagBytes
      })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(body.subarray(-tagBytes))
      try {
        const text = decipher.update(body.subarray(nonceBytes, -tagBytes))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        throw new Error('a secret cannot be opened: it was altered, or sealed with another key or purpose')
      }
    }
  }
}
