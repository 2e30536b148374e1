import { choice } from '../../fields/field.ts'
import { withoutListeners } from '../allowed-triggers.ts'
import { bareUrl, addressBelow, emptyMessage, jsonPost, nothing, requests } from '../deliveries/sending.ts'
import { isBlank, postText } from '../format/plain-text.ts'
import { telegramHtml, telegramMarkdown } from '../format/telegram-markdown.ts'
import { fill, lengthWithoutValues } from '../format/template.ts'
import { address, identifier, pathCredential, template } from '../settings.ts'
import { hookType } from './hook-type.ts'

const longest = 4_096
const formats = { Markdown: telegramMarkdown, HTML: telegramHtml }

/** A message of a bot in a Telegram chat. */
export const telegram = hookType({
  name: 'telegram',
  title: 'Telegram',
  triggers: withoutListeners,
  settings: {
    bot_token: pathCredential('The token of the bot.'),
    chat_id: identifier('The chat: a number, or @ and the name of a channel.', '@my_radio'),
    api: address({ fallback: 'https://api.telegram.org', about: 'The address of the Bot API.' }),
    text: template({ about: 'The message; a template.' }),
    parse_mode: choice(['Markdown', 'HTML'], { fallback: 'Markdown', about: 'How the message is marked up.' })
  },
  urls: ['api'],
  send({ nowPlaying }, { api, bot_token: token, chat_id, text: words, parse_mode }) {
    // Markup that was cut off would be refused.
    const isTorn = lengthWithoutValues(words) > longest
    const text = fill(words, nowPlaying, isTorn ? postText : formats[parse_mode], longest)
    if (isBlank(text)) return nothing(emptyMessage)
    const message = { chat_id, text, ...(isTorn ? {} : { parse_mode }) }
    const shownUrl = `${bareUrl(addressBelow(api, '/bot'))}…/sendMessage`
    return requests({ ...jsonPost(addressBelow(api, `/bot${token}/sendMessage`), message), shownUrl })
  }
})
