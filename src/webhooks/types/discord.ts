import { flag, hidden, isWebAddress, text } from '../../fields/field.ts'
import { withoutListeners } from '../allowed-triggers.ts'
import { emptyMessage, jsonPost, nothing, requests } from '../deliveries/sending.ts'
import { discordMarkdown } from '../format/discord-markdown.ts'
import { isBlank, plainText } from '../format/plain-text.ts'
import { fill } from '../format/template.ts'
import { characters } from '../format/truncate.ts'
import { addressText } from '../redact.ts'
import { address, template } from '../settings.ts'
import { hookType } from './hook-type.ts'

const longest = { content: 2_000, title: 256, author: 256, description: 4_096, footer: 2_048, url: 2_048 }
/** The texts of an embed together. */
const longestEmbed = 6_000

const part = (about: string) => template({ fallback: '', about })

/** A message with an embed in a Discord channel. */
export const discord = hookType({
  name: 'discord',
  title: 'Discord',
  triggers: withoutListeners,
  settings: {
    // Who knows the URL may post.
    webhook_url: hidden(address({ about: 'The URL of the channel\u2019s web hook.' })),
    content: part('The message; a template.'),
    title: part('The title of the embed; a template.'),
    description: part('The text of the embed; a template.'),
    url: part('Where the title leads; a template.'),
    author: part('The author of the embed; a template.'),
    thumbnail: part('The address of a picture; a template.'),
    footer: part('The last line of the embed; a template.'),
    color: {
      ...text({
        min: 1,
        max: 7,
        pattern: /^#[0-9A-Fa-f]{6}$/,
        says: 'must be a colour like #2196F3.',
        about: 'The colour of the embed\u2019s edge.'
      }),
      fallback: '#2196F3'
    },
    include_timestamp: flag({ fallback: true, about: 'Whether the embed tells the time.' })
  },
  urls: ['webhook_url'],
  send({ happenedAt, nowPlaying }, settings) {
    const markdown = (words: string, most: number) => fill(words, nowPlaying, discordMarkdown, most)
    const plain = (words: string, most: number) => fill(words, nowPlaying, plainText, most)
    const link = (words: string) => {
      const url = fill(words, nowPlaying, addressText, longest.url + 1).trim()
      return isWebAddress(url) && url.length <= longest.url ? url : ''
    }
    const title = markdown(settings.title, longest.title)
    const author = plain(settings.author, longest.author)
    const footer = plain(settings.footer, longest.footer)
    const room = longestEmbed - characters(title + author + footer)
    const description = markdown(settings.description, Math.min(longest.description, room))
    const thumbnail = link(settings.thumbnail).replace(/^http:/i, 'https:')
    const embed = {
      ...given('title', title),
      ...given('description', description),
      ...given('author', author, { name: author }),
      ...given('thumbnail', thumbnail, { url: thumbnail }),
      ...given('footer', footer, { text: footer })
    }
    const shown = {
      ...given('url', link(settings.url)),
      color: Number.parseInt(settings.color.slice(1), 16),
      ...(settings.include_timestamp ? { timestamp: new Date(happenedAt * 1000).toISOString() } : {})
    }
    const embeds = Object.keys(embed).length > 0 ? { embeds: [{ ...embed, ...shown }] } : {}
    const message = { ...given('content', markdown(settings.content, longest.content)), ...embeds }
    if (Object.keys(message).length === 0) return nothing(emptyMessage)
    // Whoever names songs mentions nobody.
    const post = jsonPost(settings.webhook_url, { ...message, allowed_mentions: { parse: [] } })
    return requests({ ...post, shownUrl: `${new URL(settings.webhook_url).origin}/api/webhooks/…` })
  }
})

/** A member of a message, where there is something in it. */
function given(name: string, content: string, member: unknown = content) {
  return isBlank(content) ? {} : { [name]: member }
}
