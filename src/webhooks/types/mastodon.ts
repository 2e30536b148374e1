import { choice } from '../../model/fields/field.ts'
import { fillTemplate, socialTextFormat } from '../format/template.ts'
import { hookType, nonListenerTriggers } from './hook-type.ts'
import { messageFields, noPostReason, renderPosts } from './message-set.ts'
import { jsonPost, noContent, httpContent, urlBelow } from './sending.ts'
import { address, headerCredential } from './settings.ts'

const longest = 500

/** Posts of a Mastodon account. */
export const mastodon = hookType({
  name: 'mastodon',
  triggers: nonListenerTriggers,
  settings: {
    instance_url: address({
      about: 'The address of the account\u2019s server.',
      example: 'https://mastodon.social'
    }),
    access_token: headerCredential('The token of an application that may post.'),
    visibility: choice(['public', 'unlisted', 'private', 'direct'], {
      fallback: 'public',
      about: 'Who sees the posts.'
    }),
    ...messageFields
  },
  urls: ['instance_url'],
  send(event, settings) {
    const { instance_url: instance, access_token: token, visibility } = settings
    const posts = renderPosts(event, settings, words =>
      fillTemplate(words, event.nowPlaying, socialTextFormat, longest)
    )
    if (posts.length === 0) return noContent(noPostReason)
    const url = urlBelow(instance, '/api/v1/statuses')
    const authorization = `Bearer ${token}`
    return httpContent(
      ...posts.map(({ id, text }) =>
        jsonPost(url, { status: text, visibility }, { authorization, 'idempotency-key': id })
      )
    )
  }
})
