import { createHash } from 'node:crypto'

import * as v from 'valibot'

import { withoutListeners } from '../allowed-triggers.ts'
import { jsonPost, nothing } from '../deliveries/sending.ts'
import type { HookEvent } from '../event.ts'
import { type Link, linksIn, messageSet, noPost, postsOf } from '../format/message-set.ts'
import { plainText } from '../format/plain-text.ts'
import { fill } from '../format/template.ts'
import { truncateWithin } from '../format/truncate.ts'
import { credential, identifier } from '../settings.ts'
import { hookType } from './hook-type.ts'

const service = 'https://bsky.social/xrpc'
const longest = { graphemes: 300, bytes: 3_000 }
const session = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    did: v.pipe(v.string(), v.regex(/^did:[\x21-\x7e]+$/)),
    accessJwt: v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/))
  })
)

/** Posts of a Bluesky account. */
export const bluesky = hookType({
  name: 'bluesky',
  title: 'Bluesky',
  triggers: withoutListeners,
  settings: {
    handle: identifier('The name of the account.', 'radio.bsky.social'),
    app_password: credential('An app password of the account.'),
    ...messageSet
  },
  send(event, settings) {
    const { handle, app_password: password } = settings
    const identifying = handle.replace(/^@/, '')
    const posts = postsOf(event, settings, words => textOf(words, event))
    if (posts.length === 0) return nothing(noPost)
    const createdAt = new Date(event.happenedAt * 1000).toISOString()
    return {
      kind: 'session',
      open: jsonPost(`${service}/com.atproto.server.createSession`, { identifier: identifying, password }),
      requestsIn: answer => {
        const opened = v.safeParse(session, answer)
        if (!opened.success) throw new Error('The answer is no session.')
        const { did, accessJwt } = opened.output
        return posts.map(({ id, text }) => {
          const facets = linksIn(text).map(facetOf)
          const record = {
            $type: 'app.bsky.feed.post',
            text,
            createdAt,
            ...(facets.length > 0 ? { facets } : {})
          }
          // Put, not created: a second attempt after one whose answer was lost makes no second post.
          return jsonPost(
            `${service}/com.atproto.repo.putRecord`,
            { repo: did, collection: record.$type, rkey: recordKey(event.happenedAt, id), record },
            { authorization: `Bearer ${accessJwt}` }
          )
        })
      }
    }
  }
})

function textOf(words: string, { nowPlaying }: HookEvent): string {
  return truncateWithin(fill(words, nowPlaying, plainText, longest.bytes), longest)
}

function facetOf({ address, from, to }: Link) {
  const features = [{ $type: 'app.bsky.richtext.facet#link', uri: address }]
  return { index: { byteStart: from, byteEnd: to }, features }
}

const alphabet = '234567abcdefghijklmnopqrstuvwxyz'
const length = 13

/**
 * The key of a record of the AT protocol (https://atproto.com/specs/tid), always the same for a time and a
 * name: a bit that is 0, 53 bits of Unix microseconds, and 10 bits of a clock, which are chance elsewhere and
 * a hash of the name here.
 */
export function recordKey(seconds: number, name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const micros = Math.floor(seconds) * 1e6 + (hash.readUInt32BE(0) % 1e6)
  let bits = BigInt(micros) * 1_024n + BigInt(hash.readUInt16BE(4) % 1_024)
  let key = ''
  for (let place = 0; place < length; place++, bits >>= 5n) key = alphabet.charAt(Number(bits & 31n)) + key
  return key
}
