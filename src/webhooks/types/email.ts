import * as v from 'valibot'

import { formatCheckMessage, textField } from '../../model/fields/field.ts'
import { fillTemplate, plainTextFormat } from '../format/template.ts'
import { withExtraCheck, templateSetting } from './hook-settings.ts'
import { defineHookType } from './hook-type.ts'

const longest = { subject: 200, text: 10_000 }

const mailbox = v.pipe(v.string(), v.maxLength(254), v.email())
const recipients = textField({
  min: 1,
  max: 6_000,
  isTrimmed: true,
  about: 'Up to 20 addresses with commas between them.',
  example: 'dj@example.com, office@example.com'
})

function recipientsProblem(list: string): string | null {
  const addresses = list.split(',')
  if (addresses.length > 20) return formatCheckMessage('too_long', 'must have at most 20 addresses.')
  if (addresses.every(address => v.is(mailbox, address.trim()))) return null
  return formatCheckMessage('invalid_format', 'must be mail addresses with commas between them.')
}

/** A text mail. */
export const emailHookType = defineHookType({
  name: 'email',
  retryPolicy: 'every',
  settings: {
    to: withExtraCheck(recipients, recipientsProblem),
    subject: textField({ min: 1, max: 200, about: 'The subject; a template.' }),
    message: templateSetting({ about: 'The mail; a template.' })
  },
  send({ nowPlaying }, settings) {
    const to = settings.to.split(',').map(address => address.trim())
    // A line break would begin another header.
    const subject = fillTemplate(settings.subject, nowPlaying, plainTextFormat, longest.subject).replace(
      /\p{Cc}/gu,
      ''
    )
    const content = fillTemplate(settings.message, nowPlaying, plainTextFormat, longest.text)
    return { kind: 'mail', mail: { to, subject, text: content } }
  }
})
