import { writeOnly, integer, problemText, text } from '../../model/fields/field.ts'
import { boundedJson } from '../format/now-playing-body.ts'
import { headerLinesProblem, parseHeaderLines } from './header-lines.ts'
import { hookType } from './hook-type.ts'
import { bareUrl, httpContent } from './sending.ts'
import { address, checkedBy } from './settings.ts'
import { isSigningSecret, newSigningSecret, signatureHeaders } from './signature.ts'

const userName = text({ max: 255, fallback: '', about: 'The user of HTTP Basic authentication.' })
const signingSecret = text({
  max: 100,
  fallback: '',
  about: 'Signs requests (Standard Webhooks); generated at creation if none is given, and shown only then.'
})
const headerLines = text({
  max: 8_000,
  fallback: '',
  isLong: true,
  about: 'Up to 10 lines "Name: value", sent as further headers.'
})

/** The now-playing document, signed, to any URL. */
export const generic = hookType({
  name: 'generic',
  settings: {
    webhook_url: address({ about: 'The URL of the receiver.', example: 'https://example.com/hooks/radio' }),
    basic_auth_username: checkedBy(userName, value =>
      value.includes(':') ? problemText('invalid_format', 'must not contain a colon.') : null
    ),
    basic_auth_password: writeOnly(text({ max: 2_000, fallback: '', about: 'Its password.' })),
    timeout: integer({ min: 1, max: 30, fallback: 10, about: 'Timeout of a request, in seconds.' }),
    signing_secret: writeOnly(
      checkedBy(signingSecret, value =>
        value === '' || isSigningSecret(value)
          ? null
          : problemText('invalid_format', 'must be whsec_ and the base64 of 24 to 64 bytes.')
      )
    ),
    headers: writeOnly(checkedBy(headerLines, headerLinesProblem))
  },
  urls: ['webhook_url'],
  retryPolicy: 'every',
  made: { signing_secret: newSigningSecret },
  send({ id, triggers, nowPlaying }, settings, { at, formerSecrets }) {
    const { webhook_url: url, basic_auth_username: user, basic_auth_password: password } = settings
    const { signing_secret: secret } = settings
    const body = boundedJson(nowPlaying)
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
    return httpContent({ method: 'POST', url, redactedUrl: bareUrl(url), headers, body, timeoutMs })
  }
})
