import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import busboy from 'busboy'

import { ApiError, fieldError, refuseBody, refuseField } from '../platform/runtime/errors.ts'
import { openEventLoopYield } from '../platform/runtime/time-slices.ts'
import { decodeForeignTextAsSent } from '../platform/text/foreign-text.ts'
import { readPieces } from './incoming-stream.ts'
import type { BodyStream } from './route.ts'

/** Whether a content type is that of an HTML form with files. */
export const isMultipart = (contentType: string): boolean => /^multipart\/form-data\b/i.test(contentType)

const maxFields = 50
const limits = { fieldSize: 16 * 1024, fieldNameSize: 100, files: 1 }

interface FormOptions {
  /** Receives every field, also those with the name of an earlier one. */
  readonly onField?: (name: string, value: string) => void
  /** The default is 50. */
  readonly fieldLimit?: number
  /** The charset of texts that are not UTF-8 and name no other. */
  readonly charset?: string | null
}

/** A file of a form; the fields before it are known. */
export interface FilePart {
  readonly field: string
  /** Empty if the client sent none. */
  readonly name: string
  /** The one that the part names; null if it names none. */
  readonly charset: string | null
  readonly fields: ReadonlyMap<string, string>
  readonly pieces: AsyncIterable<Uint8Array>
}

/** How long the parser may run before it yields to the event loop. */
const sliceMs = 8
/** What it gets at once: line breaks take it up to 0.2 us each. */
const pieceBytes = 64 * 1024

/** The same for a parser, which keeps pieces and works on what it gets at once. */
async function* copiesOf(stream: BodyStream): AsyncGenerator<Uint8Array> {
  const pause = openEventLoopYield(sliceMs)
  for await (const piece of readPieces(stream))
    for (let from = 0; from < piece.length; from += pieceBytes) {
      await pause()
      yield Buffer.from(piece.subarray(from, from + pieceBytes))
    }
}

/**
 * Reads a form with at most one file, which `onFile` receives while it arrives. Returns the fields. Throws 400 for a
 * body that is not such a form, with the field of the file if it is cut off.
 */
export async function readMultipartForm(
  stream: BodyStream,
  contentType: string,
  onFile: (part: FilePart) => Promise<void>,
  { onField = () => {}, fieldLimit = maxFields, charset = null }: FormOptions = {}
): Promise<ReadonlyMap<string, string>> {
  const parser = openParser(contentType, fieldLimit, charset)
  const fields = new Map<string, string>()
  const failures: unknown[] = []
  const part = { field: '', isOpen: false }
  let receiving: Promise<void> = Promise.resolve()
  const fail = (error: unknown) => {
    failures.push(error)
    parser.destroy(error instanceof Error ? error : new Error('the form was refused'))
  }
  const refuse = (run: () => never) => {
    try {
      run()
    } catch (error) {
      fail(error)
    }
  }
  parser
    .on('field', (name = '', value, { nameTruncated, valueTruncated }) => {
      if (nameTruncated)
        refuse(() =>
          refuseBody('too_long', `A name of the form has more than ${limits.fieldNameSize} bytes: ${name}...`)
        )
      else if (valueTruncated)
        refuse(() => refuseField(name, 'too_long', `must have at most ${limits.fieldSize} bytes.`))
      else {
        fields.set(name, value)
        onField(name, value)
      }
    })
    .on('file', (field = '', file, { filename: name = '', charset: sentCharset = '' }) => {
      Object.assign(part, { field, isOpen: true })
      file.on('end', () => (part.isOpen = false))
      // The parser destroys a file that nobody reads with the error of a refusal, which is in `failures`.
      file.on('error', () => {})
      const named = isUtf8(sentCharset) ? null : sentCharset
      receiving = onFile({ field, name, charset: named, fields, pieces: file }).catch(fail)
    })
    .on('filesLimit', () =>
      refuse(() => refuseField(part.field, 'too_many', 'must be the only file of the form.'))
    )
    .on('fieldsLimit', () => refuse(() => refuseBody('too_many', 'The form has too many fields.')))
    .on('partsLimit', () => refuse(() => refuseBody('too_many', 'The form has too many parts.')))
  try {
    await pipeline(Readable.from(copiesOf(stream)), parser)
  } catch (error) {
    await receiving
    const [first = error] = failures
    const isMalformed =
      first instanceof Error && !(first instanceof ApiError) && /form|boundary|header/i.test(first.message)
    if (!isMalformed) throw first
    throw ApiError.ofFields([
      part.isOpen
        ? fieldError(part.field, 'invalid_format', `is cut off: ${first.message}.`)
        : { field: '', code: 'invalid_format', message: `The form is not valid: ${first.message}.` }
    ])
  }
  await receiving
  if (failures.length > 0) throw failures[0]
  return fields
}

/** Which is tried in any case. Many programs claim it for all texts. */
const isUtf8 = (charset: string) => /^(utf-?8)?$/i.test(charset)

function openParser(contentType: string, fieldLimit: number, charset: string | null) {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      decodeText: (bytes, named) => decodeForeignTextAsSent(bytes, isUtf8(named) ? charset : named),
      preservePath: true,
      // Parts without a header are neither fields nor files.
      limits: { ...limits, fields: fieldLimit, parts: fieldLimit + limits.files + 1 }
    })
  } catch {
    return refuseBody('invalid_format', 'The content type of the form has no boundary.')
  }
}
