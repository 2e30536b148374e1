import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

import { decodeWindows1252 } from '../../runtime/foreign-text.ts'
import { refuseField } from './parse.ts'

export type CsvEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

const marks = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] }
] as const satisfies readonly { encoding: CsvEncoding; bytes: readonly number[] }[]

/**
 * Finds the encoding of a file: that of its byte order mark, else UTF-8, or Windows-1252 if it is no UTF-8. Null: it is UTF-8
 * for the most part, which Windows-1252 would turn into other characters.
 */
export async function detectEncoding(path: string): Promise<CsvEncoding | null> {
  const marked = await readMark(path)
  if (marked !== null && marked !== 'utf-8') return marked
  const decoder = new TextDecoder()
  let isValid = true
  let wrong = 0
  let others = 0
  const strict = new TextDecoder('utf-8', { fatal: true })
  const check = (bytes?: Uint8Array) => {
    if (isValid)
      try {
        strict.decode(bytes, { stream: bytes !== undefined })
      } catch {
        isValid = false
      }
    for (const [character] of decoder
      .decode(bytes, { stream: bytes !== undefined })
      .matchAll(/[^\0-\x7f]/gu)) {
      if (character === '\uFFFD') wrong++
      else others++
    }
  }
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) check(piece)
  check()
  if (isValid) return 'utf-8'
  return marked === 'utf-8' || others > wrong ? null : 'windows-1252'
}

async function readMark(path: string): Promise<CsvEncoding | null> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(3), 0, 3, 0)
  return marks.find(({ bytes }) => bytes.every((byte, index) => buffer[index] === byte))?.encoding ?? null
}

/** Small enough to decode and scan between two requests. */
const pieceBytes = 32 * 1024

/** Decodes a file piece by piece, without its byte order mark. Throws 400 for bytes that are not of the encoding. */
export async function* decodeFile(path: string, encoding: CsvEncoding): AsyncGenerator<string> {
  const decode = openDecoder(encoding)
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) yield decode(piece)
  yield decode()
}

function openDecoder(encoding: CsvEncoding) {
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
        'is not valid text in the encoding of its byte order mark.'
      )
    }
  }
}
