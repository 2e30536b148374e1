import { withoutListeners } from '../allowed-triggers.ts'
import { addressBelow, emptyMessage, jsonPost, nothing, requests } from '../deliveries/sending.ts'
import { isBlank, plainText } from '../format/plain-text.ts'
import { fill } from '../format/template.ts'
import { split } from '../format/truncate.ts'
import { address, credential, template } from '../settings.ts'
import { hookType } from './hook-type.ts'

const longest = { part: 1_000, text: 10_000 }

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
  urls: ['api'],
  send({ nowPlaying }, { api, bot_id, text: words }) {
    const text = fill(words, nowPlaying, plainText, longest.text)
    const parts = split(text, longest.part).filter(part => !isBlank(part))
    if (parts.length === 0) return nothing(emptyMessage)
    return requests(...parts.map(part => jsonPost(addressBelow(api, '/bots/post'), { bot_id, text: part })))
  }
})
