import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { credential, identifier } from '../settings.ts'

/** The song in the directory radio.de. */
export const radiode = hookType({
  name: 'radiode',
  title: 'radio.de',
  triggers: songChanges,
  settings: {
    broadcastsubdomain: identifier('The station at radio.de.', 'myradio'),
    apikey: credential('The API key.')
  }
})
