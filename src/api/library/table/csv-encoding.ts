import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

import { refuseField } from '../../../platform/runtime/errors.ts'
import {
  decodeWindows1252,
  findEncoding,
  findUnmarkedUtf16,
  encodesAsAsciiBytes
} from '../../../platform/text/foreign-text.ts'

const marks = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] }
] as const satisfies readonly { encoding: string; bytes: readonly number[] }[]

/**
 * Detects the encoding of a file: that of its byte order mark, UTF-16 that is evident from its start, else UTF-8,
 * else the named charset if it is known and fits, else Windows-1252. Returns null if the file is UTF-8 for the most
 * part, which Windows-1252 would turn into other characters.
 */
export async function detectFileEncoding(path: string, charset: string | null): Promise<string | null> {
  const start = await readStart(path)
  const marked =
    marks.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))?.encoding ??
    findUnmarkedUtf16(start)
  if (marked !== null && marked !== 'utf-8') return marked
  const named = charset === null ? null : findEncoding(charset)
  const utf8 = openCheck('utf-8')
  const other = named === null || marked !== null ? null : openCheck(named)
  const decoder = new TextDecoder()
  let hasControls = false
  let wrong = 0
  let others = 0
  const check = (bytes?: Uint8Array) => {
    utf8.check(bytes)
    other?.check(bytes)
    const text = decoder.decode(bytes, { stream: bytes !== undefined })
    hasControls ||= /[^\P{Cc}\t\r\n]/u.test(text)
    for (const [character] of text.matchAll(/[^\0-\x7f]/gu)) {
      if (character === '\uFFFD') wrong++
      else others++
    }
  }
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) check(piece)
  check()
  const isDisguised = hasControls && other?.isValid() === true && encodesAsAsciiBytes(named)
  if (utf8.isValid() && !isDisguised) return 'utf-8'
  const isGuess = named === null || named === 'utf-8' || named === 'windows-1252'
  if (!isGuess && other?.isValid() === true) return named
  return marked === 'utf-8' || others > wrong ? null : 'windows-1252'
}

/** Finds out whether pieces of bytes are valid in an encoding. */
function openCheck(encoding: string) {
  const strict = new TextDecoder(encoding, { fatal: true })
  let isValid = true
  const check = (bytes: Uint8Array | undefined) => {
    if (!isValid) return
    try {
      strict.decode(bytes, { stream: bytes !== undefined })
    } catch {
      isValid = false
    }
  }
  return { check, isValid: () => isValid }
}

async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** Small enough to decode and scan between two requests. */
const pieceBytes = 32 * 1024

/** Decodes a file piece by piece, without its byte order mark. Throws 400 for bytes that are not of the encoding. */
export async function* decodeFileText(path: string, encoding: string): AsyncGenerator<string> {
  const decode = openDecoder(encoding)
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) yield decode(piece)
  yield decode()
}

function openDecoder(encoding: string) {
  if (encoding === 'windows-1252')
    return (bytes?: Uint8Array) => (bytes === undefined ? '' : decodeWindows1252(bytes))
  const decoder = new TextDecoder(encoding, { fatal: true })
  return (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      return refuseField(
        'file',
        'invalid_format',
        'is not valid UTF-16: save it as UTF-8 with a byte order mark.'
      )
    }
  }
}
