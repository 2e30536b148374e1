import * as v from 'valibot'

import {
  type FieldAbout,
  validatedField,
  type Field,
  writeOnlyField,
  formatCheckMessage,
  textField
} from '../../model/fields/field.ts'
import { parseUrl } from '../../platform/outbound/networks.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'

/** Text that identifies something at the receiver; required. */
export function identifierSetting(about: string, example?: string): Field<string> {
  return textField({
    min: 1,
    max: 255,
    isTrimmed: true,
    about,
    ...(example === undefined ? {} : { example })
  })
}

/** A required key, token or password; `pattern` restricts its characters, as `says` explains. */
export function credentialSetting(
  about: string,
  restriction: { pattern?: RegExp; says?: string } = {}
): Field<string> {
  return writeOnlyField(textField({ min: 1, max: 2_000, isTrimmed: true, ...restriction, about }))
}

/** What a credential in a header consists of. */
export const visibleAscii = /^[\x21-\x7e]+$/

/** A credential that is sent in a header, which allows visible ASCII only. */
export const headerCredentialSetting = (about: string) =>
  credentialSetting(about, {
    pattern: visibleAscii,
    says: 'must be ASCII letters, digits and signs without blanks.'
  })

/** A credential that is a segment of a path. */
export const pathCredentialSetting = (about: string) =>
  credentialSetting(about, {
    pattern: /^[A-Za-z0-9:_-]+$/,
    says: 'must be letters, digits, colons, hyphens and underscores.'
  })

/** A template, in which `{{ now_playing.song.title }}` is a variable; required unless it has a fallback. */
export function templateSetting(
  options: FieldAbout & { readonly max?: number; readonly fallback?: string }
): Field<string> {
  const { max = 10_000, fallback, ...about } = options
  const limits = fallback === undefined ? { min: 1, max } : { max, fallback }
  return textField({ ...limits, ...about, isLong: true })
}

/** A URL that receives requests; required unless it has a fallback. Address rules are checked elsewhere. */
export function addressSetting(options: FieldAbout & { readonly fallback?: string }): Field<string> {
  const input = v.pipe(
    v.string(formatCheckMessage('invalid_type', 'must be text.')),
    v.trim(),
    v.check(value => value !== '', formatCheckMessage('blank', 'must not be empty.')),
    v.maxLength(2_048, formatCheckMessage('too_long', 'must have at most 2048 characters.')),
    v.check(
      value =>
        value === '' ||
        (parseUrl(value) !== null && !/[\s\p{Cc}]/u.test(value) && !unstorablePattern.test(value)),
      formatCheckMessage('invalid_url', 'must be an address that begins with http:// or https://.')
    )
  )
  return validatedField(input, { ...options, schema: { type: 'string', format: 'uri', maxLength: 2_048 } })
}

/** The field with a further check, which returns a problem or null. */
export function withExtraCheck(
  field: Field<string>,
  problemIn: (text: string) => string | null
): Field<string> {
  const input = v.pipe(
    field.input,
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed && !dataset.issues ? problemIn(dataset.value) : null
      if (message !== null) addIssue({ message })
    })
  )
  return { ...field, input }
}
