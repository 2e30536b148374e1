import { choice } from '../../fields/field.ts'
import { withoutListeners } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { messageSet } from '../message-set.ts'
import { address, credential } from '../settings.ts'

/** Posts of a Mastodon account. */
export const mastodon = hookType({
  name: 'mastodon',
  title: 'Mastodon',
  triggers: withoutListeners,
  settings: {
    instance_url: address({
      about: 'The address of the account\u2019s server.',
      example: 'https://mastodon.social'
    }),
    access_token: credential('The token of an application that may post.'),
    visibility: choice(['public', 'unlisted', 'private', 'direct'], {
      fallback: 'public',
      about: 'Who sees the posts.'
    }),
    ...messageSet
  },
  urls: ['instance_url']
})
