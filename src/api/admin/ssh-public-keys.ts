import { timingSafeEqual } from 'node:crypto'

/** `line` counts from 1; `blob` is the public key in the wire format of its type. */
export interface SshPublicKey {
  line: number
  type: SshKeyType
  blob: Uint8Array
}

/** The largest text of public keys, in bytes of UTF-8. */
export const maxSshPublicKeysBytes = 16 * 1024

/** Returns the problem of one field of a blob; undefined if it is valid. */
type Check = (field: Buffer) => string | undefined

const check =
  (isValid: (field: Buffer) => boolean, problem: string): Check =>
  field =>
    isValid(field) ? undefined : problem

const edwardsPoint = check(field => field.length === 32, 'the point of the key is not 32 bytes long')

const curveName = (name: string) =>
  check(field => field.toString('latin1') === name, `the curve of the key is not ${name}`)

/** SEC 1, 2.3.3. Compressed points are refused, as in OpenSSH. */
const curvePoint = (size: number) =>
  check(
    field => field.length === 1 + 2 * size && field[0] === 4,
    `the point of the key is not an uncompressed one of ${1 + 2 * size} bytes`
  )

const application = check(field => !field.includes(0), 'the application of the key contains a zero byte')

const rsaExponent = check(
  field => (bitsOf(field) ?? 0) >= 2 && isOdd(field),
  'the exponent of the key is not an odd number above 1'
)

function rsaModulus(field: Buffer): string | undefined {
  const bits = bitsOf(field)
  if (bits === undefined || !isOdd(field)) return 'the modulus of the key is not a positive odd number'
  return bits < 2_048 ? `the RSA key has ${bits} bits, at least 2048 are needed` : undefined
}

/** Fields after the type in the blob: RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4, and OpenSSH's PROTOCOL.u2f. */
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

type SshKeyType = (typeof formats)[number]['type']

/**
 * Parses one OpenSSH key per line: `<type> <base64> [comment]`. A line that begins with a key type is a key
 * or a problem, a sentence. Any other line is a comment, also a key with options before it. Line 0 of a
 * problem is the whole text. Never throws.
 */
export function parseSshPublicKeys(text: string) {
  const keys: SshPublicKey[] = []
  const problems: { line: number; message: string }[] = []
  if (Buffer.byteLength(text) > maxSshPublicKeysBytes) {
    return { keys, problems: [{ line: 0, message: 'The public keys are longer than 16 KiB.' }] }
  }
  for (const [index, content] of text.split(/\r\n|\r|\n/).entries()) {
    const line = index + 1
    const parsed = parseLine(content)
    if (typeof parsed === 'string') problems.push({ line, message: `Line ${line}: ${parsed}.` })
    else if (parsed !== undefined) keys.push({ line, ...parsed })
  }
  return { keys, problems }
}

/** Whether a line `<type> <base64> [comment]` is one of these keys. Compares them in constant time. */
export function matchesSshPublicKey(keys: readonly SshPublicKey[], text: string): boolean {
  const line = text.trim()
  const [offered] = /[\r\n]/.test(line) ? [] : parseSshPublicKeys(line).keys
  if (offered === undefined) return false
  return keys.filter(known => isSameKey(known, offered)).length > 0
}

function isSameKey(a: SshPublicKey, b: SshPublicKey): boolean {
  return a.type === b.type && a.blob.length === b.blob.length && timingSafeEqual(a.blob, b.blob)
}

/** Returns a key, the problem of a line, or undefined for a comment. */
function parseLine(content: string): Omit<SshPublicKey, 'line'> | string | undefined {
  // Also removes the byte order mark of some editors.
  const line = content.trim()
  const format = formats.find(({ type }) => line.startsWith(type))
  if (format === undefined) return undefined
  const [type, base64] = line.split(/[ \t]+/, 2)
  if (type !== format.type) return `${format.type} must be followed by a space and a key`
  if (base64 === undefined) return `there is no key after ${type}`
  const blob = Buffer.from(base64, 'base64')
  // Node ignores invalid characters, so only text that encodes to itself is accepted.
  if (blob.toString('base64') !== base64) return 'the key is not valid base64'
  return findProblem(blob, format.type, format.fields) ?? { type: format.type, blob }
}

function findProblem(blob: Buffer, type: SshKeyType, checks: readonly Check[]): string | undefined {
  const [innerType, ...fields] = splitFields(blob) ?? []
  if (innerType === undefined) return 'the key is truncated or damaged'
  if (innerType.toString('latin1') !== type) return `the key inside is not of type ${type}`
  if (fields.length !== checks.length)
    return `the key has ${fields.length} parts after its type, not ${checks.length}`
  return fields.map((field, index) => checks[index]?.(field)).find(problem => problem !== undefined)
}

/** A blob is a sequence of `string` or `mpint` (RFC 4251 5): 4 bytes of length, then the content. */
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

/** The length of a positive `mpint`; undefined for zero, negative numbers and redundant leading zeros. */
function bitsOf(mpint: Buffer): number | undefined {
  const [first = 0, second = 0] = mpint
  if (first === 0) return second < 0x80 ? undefined : (mpint.length - 1) * 8
  return first < 0x80 ? mpint.length * 8 - (Math.clz32(first) - 24) : undefined
}

function isOdd(number: Buffer): boolean {
  return ((number.at(-1) ?? 0) & 1) === 1
}
