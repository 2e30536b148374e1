import { flagField, writeOnlyField, isWebAddress, textField } from '../../model/fields/field.ts'
import { urlTextFormat } from '../format/addresses.ts'
import { discordMarkdownFormat } from '../format/discord-markdown.ts'
import { isBlank } from '../format/plain-text.ts'
import { fillTemplate, plainTextFormat } from '../format/template.ts'
import { countCharacters } from '../format/truncate.ts'
import {
  emptyMessageReason,
  jsonPostRequest,
  noDeliveryContent,
  httpDeliveryContent
} from './delivery-content.ts'
import { addressSetting, templateSetting } from './hook-settings.ts'
import { defineHookType, nonListenerTriggers } from './hook-type.ts'

const longest = { content: 2_000, title: 256, author: 256, description: 4_096, footer: 2_048, url: 2_048 }
/** The limit for all texts of an embed together. */
const longestEmbed = 6_000

const part = (about: string) => templateSetting({ fallback: '', about })

/** A message with an embed in a Discord channel. */
export const discordHookType = defineHookType({
  name: 'discord',
  triggers: nonListenerTriggers,
  settings: {
    // The URL is all that posting requires.
    webhook_url: writeOnlyField(addressSetting({ about: 'The URL of the channel\u2019s web hook.' })),
    content: part('The message; a template.'),
    title: part('The title of the embed; a template.'),
    description: part('The text of the embed; a template.'),
    url: part('The link of the title; a template.'),
    author: part('The author of the embed; a template.'),
    thumbnail: part('The address of a picture; a template.'),
    footer: part('The last line of the embed; a template.'),
    color: {
      ...textField({
        min: 1,
        max: 7,
        pattern: /^#[0-9A-Fa-f]{6}$/,
        says: 'must be a color like #2196F3.',
        about: 'The color of the embed\u2019s edge.'
      }),
      fallback: '#2196F3'
    },
    include_timestamp: flagField({ fallback: true, about: 'Whether the embed shows the time.' })
  },
  urls: ['webhook_url'],
  send({ happenedAt, nowPlaying }, settings) {
    const markdown = (words: string, most: number) =>
      fillTemplate(words, nowPlaying, discordMarkdownFormat, most)
    const plain = (words: string, most: number) => fillTemplate(words, nowPlaying, plainTextFormat, most)
    const link = (words: string) => {
      const url = fillTemplate(words, nowPlaying, urlTextFormat, longest.url + 1).trim()
      return isWebAddress(url) && url.length <= longest.url ? url : ''
    }
    const title = markdown(settings.title, longest.title)
    const author = plain(settings.author, longest.author)
    const footer = plain(settings.footer, longest.footer)
    const room = longestEmbed - countCharacters(title + author + footer)
    const description = markdown(settings.description, Math.min(longest.description, room))
    const thumbnail = link(settings.thumbnail).replace(/^http:/i, 'https:')
    const embed = {
      ...member('title', title),
      ...member('description', description),
      ...member('author', author, { name: author }),
      ...member('thumbnail', thumbnail, { url: thumbnail }),
      ...member('footer', footer, { text: footer })
    }
    const details = {
      ...member('url', link(settings.url)),
      color: Number.parseInt(settings.color.slice(1), 16),
      ...(settings.include_timestamp ? { timestamp: new Date(happenedAt * 1000).toISOString() } : {})
    }
    const embeds = Object.keys(embed).length > 0 ? { embeds: [{ ...embed, ...details }] } : {}
    const message = { ...member('content', markdown(settings.content, longest.content)), ...embeds }
    if (Object.keys(message).length === 0) return noDeliveryContent(emptyMessageReason)
    // Song titles must not mention users.
    const post = jsonPostRequest(settings.webhook_url, { ...message, allowed_mentions: { parse: [] } })
    return httpDeliveryContent({
      ...post,
      redactedUrl: `${new URL(settings.webhook_url).origin}/api/webhooks/…`
    })
  }
})

/** A member of a message; none if its content is blank. */
function member(name: string, content: string, value: unknown = content) {
  return isBlank(content) ? {} : { [name]: value }
}
