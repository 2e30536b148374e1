import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { credential, identifier } from '../settings.ts'

/** The song in the directory GetMeRadio. */
export const getmeradio = hookType({
  name: 'getmeradio',
  title: 'GetMeRadio',
  triggers: songChanges,
  settings: {
    token: credential('The API token.'),
    station_id: identifier('The station at GetMeRadio.')
  }
})
