import { readMultipart } from '../api/library/uploads/multipart-body.ts'
import { ApiError } from '../runtime/errors.ts'

/** Whether a content type is that of an HTML form with files. */
export const isMultipart = (contentType: string): boolean => /^multipart\/form-data\b/i.test(contentType)

/** A form with at most one file; null: it has none. */
export interface MultipartForm {
  readonly fields: Readonly<Record<string, string>>
  readonly file: Uint8Array | null
}

/** Parses a form that was received whole. Throws 400 for a body that is none. */
export async function parseMultipart(bytes: Uint8Array, contentType: string): Promise<MultipartForm> {
  const received = [bytes].values()
  const body = { size: bytes.length, read: async () => received.next().value ?? null, nameIgnored: () => {} }
  let file: Buffer | null = null
  const fields = await readMultipart(body, contentType, async ({ pieces }) => {
    const parts: Uint8Array[] = []
    for await (const piece of pieces) parts.push(piece)
    file = Buffer.concat(parts)
  })
  return { fields: Object.fromEntries(fields), file }
}

/** The file of a form. Throws 400 without one. */
export function fileOf({ file }: MultipartForm): Uint8Array {
  if (file === null) throw new ApiError('invalid', 'The form must contain a file.')
  return file
}
