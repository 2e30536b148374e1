import * as v from 'valibot'

import { changesValidator, toFieldErrors } from '../../../model/fields/validators.ts'
import type { FieldError } from '../../../platform/runtime/errors.ts'
import { findChangedCues, findExtraMetadataProblems, toExtraMetadata } from '../extra-metadata.ts'
import { filesResource } from '../files.ts'
import { type TableRow, customColumnPrefix } from './table-rows.ts'

const validator = changesValidator(filesResource.fields)

/** Validates what a line changes of a song as the write of the song does. Returns the problems of its fields. */
export function findLineProblems({ cues, durationMs }: TableRow, update: object): readonly FieldError[] {
  const { success, output, issues } = v.safeParse(validator, update, { abortPipeEarly: true })
  if (!success) return toFieldErrors(issues)
  const before = toExtraMetadata(cues)
  const after = { ...before, ...output.extra_metadata }
  return findChangedCues(before, after).length === 0 ? [] : findExtraMetadataProblems(after, durationMs)
}

/** The column of a field of a song: `extra_metadata.fade_in` is `fade_in`. */
function columnOf(field: string): string {
  const [root = '', name = ''] = field.split('.')
  if (root === 'extra_metadata') return name
  return root === 'custom_fields' ? customColumnPrefix + field.slice(root.length + 1) : root
}

/** Of one line. */
const maxProblems = 5

/** Says what is wrong in a line, with its columns: `Line 3, column fade_in: must be a number.` */
export const describeLineProblems = (line: number, problems: readonly FieldError[]): string =>
  problems
    .slice(0, maxProblems)
    .map(({ field, message }) => {
      const sentence = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message
      return `Line ${line}, column ${columnOf(field)}: ${sentence}`
    })
    .join(' ')
