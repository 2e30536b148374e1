import * as v from 'valibot'

import type { FieldError } from '../runtime/errors.ts'

/** A problem's code word: that of the schema's own check, else what kind of problem it is. */
const codes: Record<string, string> = {
  min_value: 'out_of_range',
  max_value: 'out_of_range',
  min_length: 'too_short',
  max_length: 'too_long',
  picklist: 'not_in_enum',
  partial_check: 'out_of_range',
  raw_check: 'required'
}

/** Nobody mends more in one go; a hostile body may have a million. */
const most = 100

/**
 * What failed checks say of an input, in words; `at` is the dotted path of the input itself, empty for a
 * body.
 */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[], at = ''): FieldError[] {
  return issues.slice(0, most).map(issue => {
    const field = [at, v.getDotPath(issue) ?? ''].filter(part => part !== '').join('.')
    const isMissing = (issue.input === undefined || issue.input === null) && issue.kind === 'schema'
    const [, said, sentence] = /^([a-z_]+): (.*)$/s.exec(issue.message) ?? []
    const code = isMissing ? 'required' : (said ?? codes[issue.type] ?? 'invalid_type')
    const reason = isMissing ? 'is required.' : (sentence ?? issue.message)
    return { field, code, message: field === '' ? `The body ${reason}` : `${field} ${reason}` }
  })
}
