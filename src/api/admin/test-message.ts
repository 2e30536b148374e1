import { randomUUID } from 'node:crypto'

import { textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { actionRoute } from '../core/actions.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply } from '../core/route.ts'

const timeoutMs = 8_000

const fields = {
  email: textField({
    min: 3,
    max: 254,
    isTrimmed: true,
    pattern: /^[^\s@,;<>"]+@[^\s@,;<>"]+$/,
    says: 'must be an email address.',
    about: 'The receiver.',
    example: 'anna@example.com'
  })
}
const validator = bodyValidator(fields)

export const testMailRoute = actionRoute('POST', '/api/admin/send-test-message', 'administer settings', {
  id: 'sendTestMessage',
  tag: 'Settings',
  summary: 'Send a mail, to test SMTP_URL',
  body: bodySchema(fields),
  takesForm: true,
  errors: [409],
  async prepare(request, { webhookTests }) {
    const { email } = parseBody(validator, request.body)
    const { mailer } = webhookTests.parts
    if (mailer === null) throw new ApiError('conflict', 'No mail server is configured: SMTP_URL is not set.')
    const message = {
      to: [email],
      subject: 'Test message',
      text: 'This is a test message of Cuewire. The settings for mail are correct.'
    }
    try {
      await mailer.send(message, randomUUID(), timeoutMs)
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      throw new ApiError('invalid', `The mail server refused the message or did not answer: ${reason}`)
    }
    return async () => ({
      audit: [{ record: 'TestMessage', id: 'mail', name: email }],
      reply: actionReply('Test message sent successfully.')
    })
  }
})
