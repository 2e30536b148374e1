import { setImmediate } from 'node:timers/promises'

import { ApiError } from '../platform/runtime/errors.ts'
import { charsetFieldNames, maxFormFields } from '../platform/text/percent-encoding.ts'
import { type FilePart, readMultipartForm } from './multipart-body.ts'

/** A form with at most one file; null: it has none. */
export interface MultipartForm {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly file: Uint8Array | null
  /** The charset that the file's part or a field names; null if none does. */
  readonly charset: string | null
}

/** Many parts of a form are in a few kilobytes. */
const pieceBytes = 16 * 1024

interface FormOptions {
  readonly fieldLimit?: number
  /** The charset that the request names. */
  readonly charset?: string | null
}

/** Parses a form that was received whole; a field may name its charset. Throws 400 for a body that is none. */
export async function parseMultipartForm(
  bytes: Uint8Array,
  contentType: string,
  { fieldLimit, charset = null }: FormOptions = {}
): Promise<MultipartForm> {
  const form = await parseIn(charset, bytes, contentType, fieldLimit)
  const named = form.fields.find(([name]) => charsetFieldNames.includes(name))
  return named ? parseIn(named[1], bytes, contentType, fieldLimit) : form
}

async function parseIn(
  charset: string | null,
  bytes: Uint8Array,
  contentType: string,
  fieldLimit?: number
): Promise<MultipartForm> {
  let offset = 0
  const read = async () => {
    if (offset >= bytes.length) return null
    // The event loop runs between the pieces.
    await setImmediate()
    const piece = bytes.subarray(offset, offset + pieceBytes)
    offset += pieceBytes
    return piece
  }
  const body = { size: bytes.length, read, nameIgnored: () => {} }
  let file: Buffer | null = null
  let fileCharset: string | null = null
  const fields: [string, string][] = []
  const onFile = async ({ pieces, charset: named }: FilePart) => {
    fileCharset = named
    const parts: Uint8Array[] = []
    for await (const piece of pieces) parts.push(piece)
    file = Buffer.concat(parts)
  }
  await readMultipartForm(body, contentType, onFile, {
    onField: (name, value) => void fields.push([name, value]),
    charset,
    ...(fieldLimit !== undefined && { fieldLimit })
  })
  return { fields, file, charset: fileCharset ?? charset }
}

/** The fields of a form without a file. Throws 400 for a body that is none. */
export async function parseFormFields(bytes: Uint8Array, contentType: string): Promise<URLSearchParams> {
  const { fields, file } = await parseMultipartForm(bytes, contentType, { fieldLimit: maxFormFields })
  if (file !== null) throw new ApiError('invalid', 'The form must not contain a file.')
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]))
}

/** The file of a form. Throws 400 without one. */
export function getFormFile({ file }: MultipartForm): Uint8Array {
  if (file === null) throw new ApiError('invalid', 'The form must contain a file.')
  return file
}
