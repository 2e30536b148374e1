import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

import { readCookie } from '../../http/credentials.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import { cookieName, renderCookie } from './session-cookie.ts'

/*
 * A browser in which a user has signed in keeps a cookie that says so, also after the session has ended. It gives no
 * access: it only tells the owner of an account from others who try passwords. The cookie has one part for each of the
 * last users: base64url of the user (6 bytes), the expiry in Unix seconds (5), a random id (9) and an HMAC-SHA256 of
 * these and of the hash of the password, so that it ends with the password.
 */

/** The user of a known device. `passwordHash`: null without a password. */
export interface DeviceUser {
  readonly id: number
  readonly passwordHash: string | null
}

const validDays = 180
const userBytes = 6
const endBytes = 5
const idBytes = 9
const claimBytes = userBytes + endBytes + idBytes
const macBytes = 32
const partLength = Math.ceil(((claimBytes + macBytes) * 4) / 3)
/** Users of one browser. */
const maxUsers = 5

const name = 'cuewire_device'

const decode = (part: string): Buffer | null => {
  const bytes = part.length === partLength ? Buffer.from(part, 'base64url') : Buffer.alloc(0)
  return bytes.length === claimBytes + macBytes ? bytes : null
}

const userOf = (bytes: Buffer) => bytes.readUIntBE(0, userBytes)

/** Reads the parts of the cookie of a device. */
function readParts(baseUrl: string, cookies: string): string[] {
  return readCookie(cookies, cookieName(baseUrl, name))
    .split('.')
    .slice(0, maxUsers)
    .filter(part => decode(part) !== null)
}

function sign(secrets: Pick<Secrets, 'deriveKey'>, claims: Uint8Array, { passwordHash }: DeviceUser): Buffer {
  const password = createHash('sha256')
    .update(passwordHash ?? '')
    .digest()
  return createHmac('sha256', secrets.deriveKey('known devices')).update(claims).update(password).digest()
}

/** Renders `Set-Cookie` for a device in which a user has signed in. `cookies`: the header of the request. */
export function renderKnownDeviceCookie(
  secrets: Pick<Secrets, 'deriveKey'>,
  baseUrl: string,
  cookies: string,
  user: DeviceUser,
  nowMs: number
): string {
  const numbers = Buffer.alloc(userBytes + endBytes)
  numbers.writeUIntBE(user.id, 0, userBytes)
  numbers.writeUIntBE(Math.floor(nowMs / 1_000) + validDays * 86_400, userBytes, endBytes)
  const claims = Buffer.concat([numbers, randomBytes(idBytes)])
  const part = Buffer.concat([claims, sign(secrets, claims, user)]).toString('base64url')
  const others = readParts(baseUrl, cookies).filter(other => userOf(decode(other) ?? claims) !== user.id)
  const value = [part, ...others].slice(0, maxUsers).join('.')
  return renderCookie(baseUrl, name, value, validDays)
}

/** Returns the id of a device in which this user has signed in with the current password; null for any other one. */
export function findKnownDeviceId(
  secrets: Pick<Secrets, 'deriveKey'>,
  baseUrl: string,
  cookies: string,
  user: DeviceUser,
  nowMs: number
): string | null {
  for (const part of readParts(baseUrl, cookies)) {
    const bytes = decode(part)
    if (bytes === null || userOf(bytes) !== user.id) continue
    const claims = bytes.subarray(0, claimBytes)
    const isCurrent = bytes.readUIntBE(userBytes, endBytes) * 1_000 > nowMs
    if (isCurrent && timingSafeEqual(sign(secrets, claims, user), bytes.subarray(claimBytes)))
      return claims.subarray(userBytes + endBytes).toString('base64url')
  }
  return null
}
