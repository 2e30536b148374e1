import { hidden, integer, text } from '../../fields/field.ts'
import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { address } from '../settings.ts'

/** A hit per song and listener in Matomo. */
export const matomoAnalytics = hookType({
  name: 'matomo_analytics',
  title: 'Matomo',
  triggers: songChanges,
  settings: {
    matomo_url: address({ about: 'The address of the Matomo server.', example: 'https://stats.example.com' }),
    site_id: integer({ min: 1, max: 2_147_483_647, about: 'The site in Matomo.' }),
    token: hidden(text({ max: 2_000, fallback: '', isTrimmed: true, about: 'A token that may write.' }))
  },
  urls: ['matomo_url']
})
