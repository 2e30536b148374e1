import { ApiError, refuseField } from '../../../platform/runtime/errors.ts'

const quote = 0x22
const backslash = 0x5c
const maxRestBytes = 1024 * 1024
const maxKeyBytes = 64

/** A line break in Base64 is `\n` or `\r\n` in JSON. */
const escapedSpaces: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const decodeEscape = (letter: string) => escapedSpaces[letter] ?? letter

/**
 * Splits a JSON object with a file in Base64, `{"path": "...", "file": "..."}`, as it arrives: `take` returns the bytes
 * of the file that a piece contains, `rest` the JSON with an empty text in place of the file.
 */
export function openJsonFileSplitter(name = 'file') {
  const kept: Buffer[] = []
  let keptBytes = 0
  let depth = 0
  let isInText = false
  let isEscaped = false
  let isInFile = false
  let hasFile = false
  let beforeFile: Buffer = Buffer.alloc(0)
  /** Whether the next text at the top is a key. */
  let isKeyNext = false
  let key = ''
  let isKey = false
  let isNameValue = false
  /** Characters of Base64 that are not decoded yet, and an escape that is not complete. */
  let digits = ''
  let escape = ''
  /** Whether the padding was read, which ends the file. */
  let isPadded = false

  const keep = (bytes: Buffer) => {
    keptBytes += bytes.length
    if (keptBytes > maxRestBytes)
      throw ApiError.ofFields(
        [
          {
            field: '',
            code: 'too_large',
            message: `The body without its ${name} is larger than ${maxRestBytes} bytes.`
          }
        ],
        'too-large'
      )
    kept.push(Buffer.from(bytes))
  }

  const decode = (isLast: boolean): Buffer => {
    // Encoders break lines after 64 or 76 characters (RFC 2045, RFC 7468).
    digits = digits.replace(/[ \t\r\n]+/g, '')
    const length = isLast ? digits.length : digits.length - (digits.length % 4)
    const text = digits.slice(0, length)
    digits = digits.slice(length)
    const isAfterPadding = isPadded && text + digits !== ''
    isPadded ||= text.includes('=')
    if (
      !/^[\w+/-]*={0,2}$/.test(text) ||
      isAfterPadding ||
      (isPadded && digits !== '') ||
      (isLast && text.length % 4 === 1)
    )
      refuseField(name, 'invalid_format', 'must be Base64, without the beginning of a data URL.')
    return Buffer.from(text, 'base64')
  }

  /** Reads the text of the file from `at` on. Returns the index behind what was read. */
  const readFilePart = (piece: Buffer, at: number, found: Buffer[]): number => {
    let index = at
    while (index < piece.length) {
      if (escape !== '') {
        escape += String.fromCharCode(piece[index] ?? 0)
        index += 1
        const isUnicode = escape[1] === 'u'
        if (isUnicode && escape.length < 6) continue
        digits += isUnicode
          ? String.fromCharCode(Number.parseInt(escape.slice(2), 16))
          : decodeEscape(escape[1] ?? '')
        escape = ''
        continue
      }
      const end = piece.indexOf(quote, index)
      const slash = piece.indexOf(backslash, index)
      const stops = [end, slash].filter(each => each >= 0)
      const stop = stops.length === 0 ? piece.length : Math.min(...stops)
      digits += piece.toString('latin1', index, stop)
      index = stop
      if (stop === piece.length) break
      if (piece[stop] === quote) {
        found.push(decode(true))
        isInFile = false
        return stop
      }
      escape = '\\'
      index += 1
    }
    if (isInFile && digits.length >= 4) found.push(decode(false))
    return index
  }

  const take = (bytes: Uint8Array): Buffer[] => {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const found: Buffer[] = []
    let from = 0
    let index = 0
    if (isInFile) {
      index = readFilePart(piece, 0, found)
      from = index
    }
    while (index < piece.length) {
      const byte = piece[index] ?? 0
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) {
          isInText = false
          if (isKey) isNameValue = key === name
          isKey = false
        }
        if (isInText && isKey && key.length < maxKeyBytes) key += String.fromCharCode(byte)
      } else if (byte === quote) {
        isInText = true
        isKey = depth === 1 && isKeyNext
        if (isKey) {
          key = ''
          isKeyNext = false
        } else if (depth === 1 && isNameValue) {
          if (hasFile) refuseField(name, 'invalid_format', 'must be given once.')
          isInFile = true
          hasFile = true
          keep(piece.subarray(from, index + 1))
          beforeFile = Buffer.concat([...kept, Buffer.from('"}')])
          index = readFilePart(piece, index + 1, found)
          // The closing quote, if it was found, is read as the end of an empty text.
          from = index
          continue
        }
      } else if (byte === 0x7b || byte === 0x5b) {
        depth += 1
        isKeyNext = depth === 1 && byte === 0x7b
        isNameValue = false
      } else if (byte === 0x7d || byte === 0x5d) depth -= 1
      else if (byte === 0x2c && depth === 1) {
        isKeyNext = true
        isNameValue = false
      }
      index += 1
    }
    if (from < piece.length) keep(piece.subarray(from))
    return found
  }

  return {
    take,
    /** Whether there is a text with the name. */
    hasFile: () => hasFile,
    /** JSON of what comes before the file, which is empty there. */
    beforeFile: () => beforeFile,
    rest: () => Buffer.concat(kept)
  }
}
