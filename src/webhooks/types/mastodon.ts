import { choiceField } from '../../model/fields/field.ts'
import { fillTemplate, socialTextFormat } from '../format/template.ts'
import { jsonPostRequest, noDeliveryContent, httpDeliveryContent, appendUrlPath } from './delivery-content.ts'
import { addressSetting, headerCredentialSetting } from './hook-settings.ts'
import { defineHookType, nonListenerTriggers } from './hook-type.ts'
import { postTemplateFields, noPostReason, renderPosts } from './post-templates.ts'

const longest = 500

/** Posts of a Mastodon account. */
export const mastodonHookType = defineHookType({
  name: 'mastodon',
  triggers: nonListenerTriggers,
  settings: {
    instance_url: addressSetting({
      about: 'The address of the account\u2019s server.',
      example: 'https://mastodon.social'
    }),
    access_token: headerCredentialSetting('The token of an application that may post.'),
    visibility: choiceField(['public', 'unlisted', 'private', 'direct'], {
      fallback: 'public',
      about: 'Who sees the posts.'
    }),
    ...postTemplateFields
  },
  urls: ['instance_url'],
  send(event, settings) {
    const { instance_url: instance, access_token: token, visibility } = settings
    const posts = renderPosts(event, settings, words =>
      fillTemplate(words, event.nowPlaying, socialTextFormat, longest)
    )
    if (posts.length === 0) return noDeliveryContent(noPostReason)
    const url = appendUrlPath(instance, '/api/v1/statuses')
    const authorization = `Bearer ${token}`
    return httpDeliveryContent(
      ...posts.map(({ id, text }) =>
        jsonPostRequest(url, { status: text, visibility }, { authorization, 'idempotency-key': id })
      )
    )
  }
})
