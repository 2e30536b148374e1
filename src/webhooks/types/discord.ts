import { flag, hidden, text } from '../../fields/field.ts'
import { withoutListeners } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { address, template } from '../settings.ts'

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
  urls: ['webhook_url']
})
