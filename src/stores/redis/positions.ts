import { readableSchemas } from './state-schema.ts'

/** `revision`: of the facts that the state shows. `schema`: in which the state is written. */
export type StoredPosition = ReturnType<typeof parsePosition>

/** Parses `epoch:offset:revision:schema`; the text is empty if nothing is stored. */
export function parsePosition(text: string) {
  const [epoch = '', offset = '0', revision = '0', schema = '0'] = text.split(':')
  return { epoch, offset: Number(offset), revision: Number(revision), schema: Number(schema) }
}

/** Formats what `parsePosition` parses. */
export const formatPosition = ({ epoch, offset, revision, schema }: StoredPosition): string =>
  `${epoch}:${offset}:${revision}:${schema}`

/** Whether only a newer release can read the state at a position. */
export const isOfNewerRelease = ({ schema }: StoredPosition) => schema > Math.max(...readableSchemas)

/** Whether this release can read the state at a position. */
export const isReadable = ({ schema }: StoredPosition) => readableSchemas.includes(schema)
