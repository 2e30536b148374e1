import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { credential, identifier } from '../settings.ts'

/** An event per song in Google Analytics 4 (Measurement Protocol). */
export const googleAnalyticsV4 = hookType({
  name: 'google_analytics_v4',
  title: 'Google Analytics 4',
  triggers: songChanges,
  settings: {
    api_secret: credential('The API secret of the data stream.'),
    measurement_id: identifier('The measurement id of the data stream.', 'G-1A2B3C4D5E')
  }
})
