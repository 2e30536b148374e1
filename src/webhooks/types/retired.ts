import { hidden, text } from '../../fields/field.ts'
import { retiredType } from '../hook-type.ts'

const secret = (about: string) => hidden(text({ max: 2_000, fallback: '', about }))

/** Its interface for posting is gone. */
export const twitter = retiredType({
  name: 'twitter',
  title: 'Twitter',
  settings: {
    consumer_secret: secret('The secret of the application.'),
    token_secret: secret('The secret of the account\u2019s token.')
  }
})

/** Universal Analytics ended in 2023. */
export const googleAnalytics = retiredType({
  name: 'google_analytics',
  title: 'Google Analytics (Universal)',
  settings: {}
})
