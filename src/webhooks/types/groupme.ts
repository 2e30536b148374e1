import { withoutListeners } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { address, credential, template } from '../settings.ts'

/** A message of a bot in a GroupMe group. */
export const groupme = hookType({
  name: 'groupme',
  title: 'GroupMe',
  triggers: withoutListeners,
  settings: {
    bot_id: credential('The id of the bot; who knows it may post.'),
    api: address({ fallback: 'https://api.groupme.com/v3', about: 'The address of the API.' }),
    text: template({ about: 'The message; a template.' })
  },
  urls: ['api']
})
