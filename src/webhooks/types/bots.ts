import { choiceField } from '../../model/fields/field.ts'
import { isBlank } from '../format/plain-text.ts'
import { telegramHtmlFormat, telegramMarkdownFormat } from '../format/telegram.ts'
import { fillTemplate, lengthWithoutValues, plainTextFormat, socialTextFormat } from '../format/template.ts'
import { splitTextToLength } from '../format/truncate.ts'
import {
  stripUrlSecrets,
  emptyMessageReason,
  jsonPostRequest,
  noDeliveryContent,
  httpDeliveryContent,
  appendUrlPath
} from './delivery-content.ts'
import {
  addressSetting,
  credentialSetting,
  identifierSetting,
  pathCredentialSetting,
  templateSetting
} from './hook-settings.ts'
import { defineHookType, nonListenerTriggers } from './hook-type.ts'

const longest = { groupme: 10_000, groupmePart: 1_000, telegram: 4_096 }

/** A message of a bot in a GroupMe group. */
export const groupmeHookType = defineHookType({
  name: 'groupme',
  triggers: nonListenerTriggers,
  settings: {
    bot_id: credentialSetting('The id of the bot, which is all that posting requires.'),
    api: addressSetting({ fallback: 'https://api.groupme.com/v3', about: 'The address of the API.' }),
    text: templateSetting({ about: 'The message; a template.' })
  },
  urls: ['api'],
  send({ nowPlaying }, { api, bot_id, text }) {
    const message = fillTemplate(text, nowPlaying, plainTextFormat, longest.groupme)
    const parts = splitTextToLength(message, longest.groupmePart).filter(part => !isBlank(part))
    if (parts.length === 0) return noDeliveryContent(emptyMessageReason)
    return httpDeliveryContent(
      ...parts.map(part => jsonPostRequest(appendUrlPath(api, '/bots/post'), { bot_id, text: part }))
    )
  }
})

const telegramFormats = { Markdown: telegramMarkdownFormat, HTML: telegramHtmlFormat }

/** A message of a bot in a Telegram chat. */
export const telegramHookType = defineHookType({
  name: 'telegram',
  triggers: nonListenerTriggers,
  settings: {
    bot_token: pathCredentialSetting('The token of the bot.'),
    chat_id: identifierSetting('The chat: a number, or @ and the name of a channel.', '@my_radio'),
    api: addressSetting({ fallback: 'https://api.telegram.org', about: 'The address of the Bot API.' }),
    text: templateSetting({ about: 'The message; a template.' }),
    parse_mode: choiceField(['Markdown', 'HTML'], {
      fallback: 'Markdown',
      about: 'The markup of the message.'
    })
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
    if (isBlank(text)) return noDeliveryContent(emptyMessageReason)
    const message = { chat_id, text, ...(isPlain ? {} : { parse_mode }) }
    const redactedUrl = `${stripUrlSecrets(appendUrlPath(api, '/bot'))}…/sendMessage`
    return httpDeliveryContent({
      ...jsonPostRequest(appendUrlPath(api, `/bot${token}/sendMessage`), message),
      redactedUrl
    })
  }
})
