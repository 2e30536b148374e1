import { hidden, integer, problem, text } from '../../fields/field.ts'
import { everyTrigger } from '../allowed-triggers.ts'
import { bareUrl, requests } from '../deliveries/sending.ts'
import { isSigningSecret, newSigningSecret, signatureHeaders } from '../deliveries/signature.ts'
import { boundedJson } from '../format/now-playing-body.ts'
import { headerLinesProblem, headersIn } from '../header-lines.ts'
import { address, checkedBy } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** The now-playing document, signed, to any URL. */
export const generic = hookType({
  name: 'generic',
  title: 'Any receiver of signed requests',
  triggers: everyTrigger,
  settings: {
    webhook_url: address({ about: 'Where requests go.', example: 'https://example.com/hooks/radio' }),
    basic_auth_username: checkedBy(
      text({ max: 255, fallback: '', about: 'The user of HTTP Basic authentication.' }),
      value => (value.includes(':') ? problem('invalid_format', 'must hold no colon.') : null)
    ),
    basic_auth_password: hidden(text({ max: 2_000, fallback: '', about: 'Its password.' })),
    timeout: integer({ min: 1, max: 30, fallback: 10, about: 'Seconds an answer may take.' }),
    signing_secret: hidden(
      checkedBy(
        text({
          max: 100,
          fallback: '',
          about:
            'Signs requests (Standard Webhooks); made at creation where none is given, and shown then only.'
        }),
        value =>
          value === '' || isSigningSecret(value)
            ? null
            : problem('invalid_format', 'must be whsec_ and the base64 of 24 to 64 bytes.')
      )
    ),
    headers: hidden(
      checkedBy(
        text({
          max: 8_000,
          fallback: '',
          isLong: true,
          about: 'Up to 10 lines "Name: value" that are sent along.'
        }),
        headerLinesProblem
      )
    )
  },
  urls: ['webhook_url'],
  made: { signing_secret: newSigningSecret },
  send({ id, triggers, nowPlaying }, settings, { at, formerSecrets }) {
    const { basic_auth_username: user, basic_auth_password: password, signing_secret: secret } = settings
    const body = boundedJson(nowPlaying)
    const secrets = secret === '' ? [] : [secret, ...formerSecrets]
    const credentials = Buffer.from(`${user}:${password}`).toString('base64')
    const headers = {
      'content-type': 'application/json',
      ...(user === '' && password === '' ? {} : { authorization: `Basic ${credentials}` }),
      ...headersIn(settings.headers),
      'x-cuewire-event': triggers.join(','),
      'x-cuewire-station': nowPlaying.station.shortcode,
      ...signatureHeaders({ id, at, body }, secrets)
    }
    return requests({
      method: 'POST',
      url: settings.webhook_url,
      shownUrl: bareUrl(settings.webhook_url),
      headers,
      body,
      timeoutMs: settings.timeout * 1000
    })
  }
})
