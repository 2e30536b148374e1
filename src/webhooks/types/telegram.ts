import { choice } from '../../fields/field.ts'
import { withoutListeners } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { address, credential, identifier, template } from '../settings.ts'

/** A message of a bot in a Telegram chat. */
export const telegram = hookType({
  name: 'telegram',
  title: 'Telegram',
  triggers: withoutListeners,
  settings: {
    bot_token: credential('The token of the bot.'),
    chat_id: identifier('The chat: a number, or @ and the name of a channel.', '@my_radio'),
    api: address({ fallback: 'https://api.telegram.org', about: 'The address of the Bot API.' }),
    text: template({ about: 'The message; a template.' }),
    parse_mode: choice(['Markdown', 'HTML'], { fallback: 'Markdown', about: 'How the message is marked up.' })
  },
  urls: ['api']
})
