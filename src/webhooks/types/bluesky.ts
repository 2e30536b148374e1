import { withoutListeners } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { messageSet } from '../message-set.ts'
import { credential, identifier } from '../settings.ts'

/** Posts of a Bluesky account. */
export const bluesky = hookType({
  name: 'bluesky',
  title: 'Bluesky',
  triggers: withoutListeners,
  settings: {
    handle: identifier('The name of the account.', 'radio.bsky.social'),
    app_password: credential('An app password of the account.'),
    ...messageSet
  }
})
