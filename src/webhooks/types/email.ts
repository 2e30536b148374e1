import * as v from 'valibot'

import { problemText, text } from '../../model/fields/field.ts'
import { fillTemplate, plainTextFormat } from '../format/template.ts'
import { hookType } from './hook-type.ts'
import { checkedBy, template } from './settings.ts'

const longest = { subject: 200, text: 10_000 }

const mailbox = v.pipe(v.string(), v.maxLength(254), v.email())
const recipients = text({
  min: 1,
  max: 6_000,
  isTrimmed: true,
  about: 'Up to 20 addresses with commas between them.',
  example: 'dj@example.com, office@example.com'
})

function recipientsProblem(list: string): string | null {
  const addresses = list.split(',')
  if (addresses.length > 20) return problemText('too_long', 'must have at most 20 addresses.')
  if (addresses.every(address => v.is(mailbox, address.trim()))) return null
  return problemText('invalid_format', 'must be mail addresses with commas between them.')
}

/** A text mail. */
export const email = hookType({
  name: 'email',
  retryPolicy: 'every',
  settings: {
    to: checkedBy(recipients, recipientsProblem),
    subject: text({ min: 1, max: 200, about: 'The subject; a template.' }),
    message: template({ about: 'The mail; a template.' })
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
