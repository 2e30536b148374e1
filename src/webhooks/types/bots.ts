import { choice } from '../../model/fields/field.ts'
import { isBlank } from '../format/plain-text.ts'
import { telegramHtmlFormat, telegramMarkdownFormat } from '../format/telegram.ts'
import { fillTemplate, lengthWithoutValues, plainTextFormat, socialTextFormat } from '../format/template.ts'
import { splitToLength } from '../format/truncate.ts'
import { hookType, nonListenerTriggers } from './hook-type.ts'
import { bareUrl, emptyMessageReason, jsonPost, noContent, httpContent, urlBelow } from './sending.ts'
import { address, credential, identifier, pathCredential, template } from './settings.ts'

const longest = { groupme: 10_000, groupmePart: 1_000, telegram: 4_096 }

/** A message of a bot in a GroupMe group. */
export const groupme = hookType({
  name: 'groupme',
  triggers: nonListenerTriggers,
  settings: {
    bot_id: credential('The id of the bot, which is all that posting requires.'),
    api: address({ fallback: 'https://api.groupme.com/v3', about: 'The address of the API.' }),
    text: template({ about: 'The message; a template.' })
  },
  urls: ['api'],
  send({ nowPlaying }, { api, bot_id, text }) {
    const message = fillTemplate(text, nowPlaying, plainTextFormat, longest.groupme)
    const parts = splitToLength(message, longest.groupmePart).filter(part => !isBlank(part))
    if (parts.length === 0) return noContent(emptyMessageReason)
    return httpContent(...parts.map(part => jsonPost(urlBelow(api, '/bots/post'), { bot_id, text: part })))
  }
})

const telegramFormats = { Markdown: telegramMarkdownFormat, HTML: telegramHtmlFormat }

/** A message of a bot in a Telegram chat. */
export const telegram = hookType({
  name: 'telegram',
  triggers: nonListenerTriggers,
  settings: {
    bot_token: pathCredential('The token of the bot.'),
    chat_id: identifier('The chat: a number, or @ and the name of a channel.', '@my_radio'),
    api: address({ fallback: 'https://api.telegram.org', about: 'The address of the Bot API.' }),
    text: template({ about: 'The message; a template.' }),
    parse_mode: choice(['Markdown', 'HTML'], { fallback: 'Markdown', about: 'The markup of the message.' })
  },
  urls: ['api'],
  send({ nowPlaying }, { api, bot_token: token, chat_id, text: words, parse_mode }) {
    // Telegram refuses truncated markup, so a template that is too long is sent as plain text.
    const isPlain = lengthWithoutValues(words) > longest.telegram
    const text = fillTemplate(
      words,
      nowPlaying,
      isPlain ? socialTextFormat : telegramFormats[parse_mode],
      longest.telegram
    )
    if (isBlank(text)) return noContent(emptyMessageReason)
    const message = { chat_id, text, ...(isPlain ? {} : { parse_mode }) }
    const redactedUrl = `${bareUrl(urlBelow(api, '/bot'))}…/sendMessage`
    return httpContent({ ...jsonPost(urlBelow(api, `/bot${token}/sendMessage`), message), redactedUrl })
  }
})
