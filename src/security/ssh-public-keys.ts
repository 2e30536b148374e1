import { timingSafeEqual } from 'node:crypto'

/** A key that can log in. `line` counts from 1; `blob` is the public key in the wire format of its type. */
export interface PublicKey {
  line: number
  type: KeyType
  blob: Uint8Array
}

/** Why a line is refused, as a sentence for a person. Line 0 is the text as a whole. */
export interface KeyProblem {
  line: number
  message: string
}

/** The largest text of public keys, in bytes of UTF-8. */
export const maxPublicKeysBytes = 16 * 1024

/** Says what is wrong with one field of a blob, or nothing. */
type Check = (field: Buffer) => string | undefined

/** What follows the type in the blob: RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4, and OpenSSH's PROTOCOL.u2f. */
const formats = [
  { type: 'ssh-ed25519', fields: [edwardsPoint] },
  { type: 'ssh-rsa', fields: [rsaExponent, rsaModulus] },
  { type: 'ecdsa-sha2-nistp256', fields: [curveName('nistp256'), curvePoint(32)] },
  { type: 'ecdsa-sha2-nistp384', fields: [curveName('nistp384'), curvePoint(48)] },
  { type: 'ecdsa-sha2-nistp521', fields: [curveName('nistp521'), curvePoint(66)] },
  { type: 'sk-ssh-ed25519@openssh.com', fields: [edwardsPoint, application] },
  {
    type: 'sk-ecdsa-sha2-nistp256@openssh.com',
    fields: [curveName('nistp256'), curvePoint(32), application]
  }
] as const satisfies readonly { type: string; fields: readonly Check[] }[]

export type KeyType = (typeof formats)[number]['type']

/**
 * Reads one OpenSSH key per line: `<type> <base64> [comment]`. A line that begins with a key type is a key or
 * a problem; any other line is a comment, also one with options before the key, and never matches. Never
 * throws.
 */
export function parsePublicKeys(text: string): { keys: PublicKey[]; problems: KeyProblem[] } {
  const keys: PublicKey[] = []
  const problems: KeyProblem[] = []
  if (Buffer.byteLength(text) > maxPublicKeysBytes) {
    return { keys, problems: [{ line: 0, message: 'The public keys are longer than 16 KiB.' }] }
  }
  for (const [index, content] of text.split(/\r\n|\r|\n/).entries()) {
    const line = index + 1
    const read = readLine(content)
    if (typeof read === 'string') problems.push({ line, message: `Line ${line}: ${read}.` })
    else if (read !== undefined) keys.push({ line, ...read })
  }
  return { keys, problems }
}

/**
 * Whether `text`, one line `<type> <base64> [comment]`, is one of these keys. Only type and blob count. How
 * long it takes does not tell which key matches, nor how far one does.
 */
export function matchesKey(keys: readonly PublicKey[], text: string): boolean {
  const line = text.trim()
  const [offered] = /[\r\n]/.test(line) ? [] : parsePublicKeys(line).keys
  if (offered === undefined) return false
  return keys.filter(known => isSameKey(known, offered)).length > 0
}

function isSameKey(a: PublicKey, b: PublicKey): boolean {
  return a.type === b.type && a.blob.length === b.blob.length && timingSafeEqual(a.blob, b.blob)
}

/** A key, what is wrong with it, or nothing for a comment. */
function readLine(content: string): Omit<PublicKey, 'line'> | string | undefined {
  // Also takes off the byte order mark that some editors begin a file with.
  const line = content.trim()
  const format = formats.find(({ type }) => line.startsWith(type))
  if (format === undefined) return undefined
  const [type, base64] = line.split(/[ \t]+/, 2)
  if (type !== format.type) return `${format.type} must be followed by a blank and a key`
  if (base64 === undefined) return `there is no key after ${type}`
  const blob = Buffer.from(base64, 'base64')
  // Node skips what is no base64, so only a text that comes back as it was is strict base64.
  if (blob.toString('base64') !== base64) return 'the key is not valid base64'
  return faultOf(blob, format.type, format.fields) ?? { type: format.type, blob }
}

function faultOf(blob: Buffer, type: KeyType, checks: readonly Check[]): string | undefined {
  const [innerType, ...fields] = splitFields(blob) ?? []
  if (innerType === undefined) return 'the key is cut short or damaged'
  if (innerType.toString('latin1') !== type) return `the key inside is not of type ${type}`
  if (fields.length !== checks.length)
    return `the key has ${fields.length} parts after its type, not ${checks.length}`
  return fields.map((field, index) => checks[index]?.(field)).find(fault => fault !== undefined)
}

/**
 * A blob is a row of `string` or `mpint` (RFC 4251 5), each 4 bytes of length and the content; nothing else.
 */
function splitFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  let at = 0
  while (at < blob.length) {
    if (blob.length - at < 4) return undefined
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return undefined
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}

function edwardsPoint(field: Buffer): string | undefined {
  return field.length === 32 ? undefined : 'the point of the key is not 32 bytes long'
}

function curveName(name: string): Check {
  return field => (field.toString('latin1') === name ? undefined : `the curve of the key is not ${name}`)
}

/** SEC 1, 2.3.3. OpenSSH takes no compressed points, so neither do we. */
function curvePoint(size: number): Check {
  return field =>
    field.length === 1 + 2 * size && field[0] === 4
      ? undefined
      : `the point of the key is not an uncompressed one of ${1 + 2 * size} bytes`
}

function application(field: Buffer): string | undefined {
  return field.includes(0) ? 'the application of the key contains a zero byte' : undefined
}

function rsaExponent(field: Buffer): string | undefined {
  const bits = bitsOf(field)
  return bits === undefined || bits < 2 || !isOdd(field)
    ? 'the exponent of the key is not an odd number above 1'
    : undefined
}

function rsaModulus(field: Buffer): string | undefined {
  const bits = bitsOf(field)
  if (bits === undefined || !isOdd(field)) return 'the modulus of the key is not a positive odd number'
  return bits < 2_048 ? `the RSA key has ${bits} bits, at least 2048 are needed` : undefined
}

/** The length of a positive `mpint`; undefined for zero, negative numbers and needless leading zeros. */
function bitsOf(mpint: Buffer): number | undefined {
  const [first = 0, second = 0] = mpint
  if (first === 0) return second < 0x80 ? undefined : (mpint.length - 1) * 8
  return first < 0x80 ? mpint.length * 8 - (Math.clz32(first) - 24) : undefined
}

function isOdd(number: Buffer): boolean {
  return ((number.at(-1) ?? 0) & 1) === 1
}
