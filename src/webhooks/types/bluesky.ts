import { createHash } from 'node:crypto'

import * as v from 'valibot'

import { parseUrl } from '../../platform/outbound/networks.ts'
import { fillTemplate, plainTextFormat } from '../format/template.ts'
import { truncateGraphemes } from '../format/truncate.ts'
import { jsonPostRequest, noDeliveryContent } from './delivery-content.ts'
import { visibleAscii, credentialSetting, identifierSetting } from './hook-settings.ts'
import { defineHookType, nonListenerTriggers } from './hook-type.ts'
import { postTemplateFields, noPostReason, renderPosts } from './post-templates.ts'

const service = 'https://bsky.social/xrpc'
const longest = { graphemes: 300, bytes: 3_000 }
const session = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    did: v.pipe(v.string(), v.regex(/^did:[\x21-\x7e]+$/)),
    accessJwt: v.pipe(v.string(), v.regex(visibleAscii))
  })
)

/** Posts of a Bluesky account. */
export const blueskyHookType = defineHookType({
  name: 'bluesky',
  triggers: nonListenerTriggers,
  settings: {
    handle: identifierSetting('The name of the account.', 'radio.bsky.social'),
    app_password: credentialSetting('An app password of the account.'),
    ...postTemplateFields
  },
  send(event, settings) {
    const { handle, app_password: password } = settings
    const account = handle.replace(/^@/, '')
    const render = (words: string) =>
      truncateGraphemes(fillTemplate(words, event.nowPlaying, plainTextFormat, longest.bytes), longest)
    const posts = renderPosts(event, settings, render)
    if (posts.length === 0) return noDeliveryContent(noPostReason)
    const createdAt = new Date(event.happenedAt * 1000).toISOString()
    return {
      kind: 'session',
      open: jsonPostRequest(`${service}/com.atproto.server.createSession`, { identifier: account, password }),
      requestsIn: response => {
        const opened = v.safeParse(session, response)
        if (!opened.success) throw new Error('the answer does not contain a session')
        const { did, accessJwt } = opened.output
        return posts.map(({ id, text }) => {
          const links = findTextLinks(text).map(facetOf)
          const facets = links.length > 0 ? { facets: links } : {}
          const record = { $type: 'app.bsky.feed.post', text, createdAt, ...facets }
          // Idempotent, unlike createRecord, so that a retry after a lost answer does not post twice.
          return jsonPostRequest(
            `${service}/com.atproto.repo.putRecord`,
            { repo: did, collection: record.$type, rkey: computeRecordKey(event.happenedAt, id), record },
            { authorization: `Bearer ${accessJwt}` }
          )
        })
      }
    }
  }
})

/** Finds web addresses and their ranges in bytes, without trailing punctuation. Skips a truncated one. */
export function findTextLinks(text: string) {
  return Array.from(text.matchAll(/(?<![^\s(])https?:\/\/\S+/gi)).flatMap(({ 0: found, index }) => {
    if (found.includes('…')) return []
    const trailing = found.includes('(') ? /[.,;:!?'"\]]+$/ : /[.,;:!?'"\])]+$/
    const address = found.replace(trailing, '')
    const from = Buffer.byteLength(text.slice(0, index))
    return parseUrl(address) ? [{ address, from, to: from + Buffer.byteLength(address) }] : []
  })
}

function facetOf({ address, from, to }: ReturnType<typeof findTextLinks>[number]) {
  const features = [{ $type: 'app.bsky.richtext.facet#link', uri: address }]
  return { index: { byteStart: from, byteEnd: to }, features }
}

const alphabet = '234567abcdefghijklmnopqrstuvwxyz'
const length = 13

/**
 * A record key of the AT protocol (https://atproto.com/specs/tid), derived from a time and a name: a zero
 * bit, 53 bits of Unix microseconds, and 10 bits of a clock id. The name's hash replaces random bits.
 */
export function computeRecordKey(seconds: number, name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const micros = Math.floor(seconds) * 1e6 + (hash.readUInt32BE(0) % 1e6)
  let bits = BigInt(micros) * 1_024n + BigInt(hash.readUInt16BE(4) % 1_024)
  let key = ''
  for (let place = 0; place < length; place++, bits >>= 5n) key = alphabet.charAt(Number(bits & 31n)) + key
  return key
}
