import { writeOnlyField, integerField, formatCheckMessage, textField } from '../../model/fields/field.ts'
import { renderBoundedNowPlaying } from '../format/now-playing-body.ts'
import { stripUrlSecrets, httpDeliveryContent } from './delivery-content.ts'
import { findHeaderLinesProblem, parseHeaderLines } from './header-lines.ts'
import { addressSetting, withExtraCheck } from './hook-settings.ts'
import { defineHookType } from './hook-type.ts'
import { isSigningSecret, generateSigningSecret, signatureHeaders } from './signature.ts'

const userName = textField({ max: 255, fallback: '', about: 'The user of HTTP Basic authentication.' })
const signingSecret = textField({
  max: 100,
  fallback: '',
  about: 'Signs requests (Standard Webhooks); generated at creation if none is given, and shown only then.'
})
const headerLines = textField({
  max: 8_000,
  fallback: '',
  isLong: true,
  about: 'Up to 10 lines "Name: value", sent as further headers.'
})

/** The now-playing document, signed, to any URL. */
export const genericHookType = defineHookType({
  name: 'generic',
  settings: {
    webhook_url: addressSetting({
      about: 'The URL of the receiver.',
      example: 'https://example.com/hooks/radio'
    }),
    basic_auth_username: withExtraCheck(userName, value =>
      value.includes(':') ? formatCheckMessage('invalid_format', 'must not contain a colon.') : null
    ),
    basic_auth_password: writeOnlyField(textField({ max: 2_000, fallback: '', about: 'Its password.' })),
    timeout: integerField({ min: 1, max: 30, fallback: 10, about: 'Timeout of a request, in seconds.' }),
    signing_secret: writeOnlyField(
      withExtraCheck(signingSecret, value =>
        value === '' || isSigningSecret(value)
          ? null
          : formatCheckMessage('invalid_format', 'must be whsec_ and the base64 of 24 to 64 bytes.')
      )
    ),
    headers: writeOnlyField(withExtraCheck(headerLines, findHeaderLinesProblem))
  },
  urls: ['webhook_url'],
  retryPolicy: 'every',
  made: { signing_secret: generateSigningSecret },
  send({ id, triggers, nowPlaying }, settings, { at, formerSecrets }) {
    const { webhook_url: url, basic_auth_username: user, basic_auth_password: password } = settings
    const { signing_secret: secret } = settings
    const body = renderBoundedNowPlaying(nowPlaying)
    const secrets = secret === '' ? [] : [secret, ...formerSecrets]
    const credentials = Buffer.from(`${user}:${password}`).toString('base64')
    const headers = {
      'content-type': 'application/json',
      ...(user === '' && password === '' ? {} : { authorization: `Basic ${credentials}` }),
      ...parseHeaderLines(settings.headers),
      'x-cuewire-event': triggers.join(','),
      'x-cuewire-station': nowPlaying.station.shortcode,
      ...signatureHeaders({ id, at, body }, secrets)
    }
    const timeoutMs = settings.timeout * 1000
    return httpDeliveryContent({
      method: 'POST',
      url,
      redactedUrl: stripUrlSecrets(url),
      headers,
      body,
      timeoutMs
    })
  }
})
