import * as v from 'valibot'

import { type About, custom, type Field, hidden, problem, text } from '../fields/field.ts'
import { parsedUrl } from '../outbound/networks.ts'

/** Text that identifies something at the receiver; required. */
export function identifier(about: string, example?: string): Field<string> {
  return text({ min: 1, max: 255, isTrimmed: true, about, ...(example === undefined ? {} : { example }) })
}

/** A key, token or password that the receiver asks for; required. */
export function credential(about: string): Field<string> {
  return hidden(text({ min: 1, max: 2_000, isTrimmed: true, about }))
}

/** The same where it is sent in a header, which holds visible ASCII only. */
export function headerCredential(about: string): Field<string> {
  const pattern = /^[\x21-\x7e]+$/
  const says = 'must be letters, digits and signs of ASCII without blanks.'
  return hidden(text({ min: 1, max: 2_000, isTrimmed: true, pattern, says, about }))
}

/** The same where it is a part of a path, out of which it must not lead. */
export function pathCredential(about: string): Field<string> {
  const pattern = /^[A-Za-z0-9:_-]+$/
  const says = 'must be letters, digits, colons, hyphens and underscores.'
  return hidden(text({ min: 1, max: 2_000, isTrimmed: true, pattern, says, about }))
}

/** Text in which `{{ now_playing.song.title }}` stands for a value; required unless it has a fallback. */
export function template(
  options: About & { readonly max?: number; readonly fallback?: string }
): Field<string> {
  const { max = 10_000, fallback, ...about } = options
  const limits = fallback === undefined ? { min: 1, max } : { max, fallback }
  return text({ ...limits, ...about, isLong: true })
}

/** Where requests go; required unless it has a fallback. What the guard says of it is not checked here. */
export function address(options: About & { readonly fallback?: string }): Field<string> {
  const input = v.pipe(
    v.string(problem('invalid_type', 'must be text.')),
    v.trim(),
    v.check(value => value !== '', problem('blank', 'must not be empty.')),
    v.maxLength(2_048, problem('too_long', 'must have at most 2048 characters.')),
    v.check(
      value => value === '' || (parsedUrl(value) !== null && !/[\s\p{Cc}\p{Surrogate}]/u.test(value)),
      problem('invalid_url', 'must be an address that begins with http:// or https://.')
    )
  )
  return custom(input, { ...options, schema: { type: 'string', format: 'uri', maxLength: 2_048 } })
}

/** The same text with a further check, which gives the problem there is or null. */
export function checkedBy(field: Field<string>, problemIn: (text: string) => string | null): Field<string> {
  const input = v.pipe(
    field.input,
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed && !dataset.issues ? problemIn(dataset.value) : null
      if (message !== null) addIssue({ message })
    })
  )
  return { ...field, input }
}
