import type { Config } from '../config.ts'
import { sendPartsOf } from '../webhooks/send-parts.ts'
import type { SendParts } from '../webhooks/send.ts'
import { openTokenBuckets, type TokenBuckets } from './token-buckets.ts'

/** What web hooks are tried out with. */
export interface WebhookTestParts {
  readonly parts: Pick<SendParts, 'allowed' | 'mailer'>
  /** By key. */
  readonly tokens: TokenBuckets
  /** The hooks that this process is trying out: each once at a time. */
  readonly underWay: Set<number>
}

export function openWebhookTestParts(config: Config): WebhookTestParts {
  return { parts: sendPartsOf(config), tokens: openTokenBuckets(2, 5), underWay: new Set() }
}
