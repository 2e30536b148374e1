import {
  formerSecretSealingPurpose,
  type HookConfig,
  unsealHookConfig,
  type Sealer,
  listConfigSecrets
} from '../hook-config.ts'
import type { HookEvent } from '../hook-event.ts'
import { noDeliveryContent, type DeliveryContent } from '../types/delivery-content.ts'
import { getHookType } from '../types/hook-types.ts'

/** The part of a web hook that decides what it sends. */
export interface HookToRender {
  readonly type: string
  readonly config: HookConfig
  /** A replaced signing secret, sealed, and until when it signs. */
  readonly formerSecret: string | null
  readonly formerSecretUntilMs: number
}

/** Returns what a web hook sends for an event, and the secrets to redact in the stored answer. */
export function renderDelivery(
  { open }: Pick<Sealer, 'open'>,
  hook: HookToRender,
  event: HookEvent,
  nowMs: number
): { sending: DeliveryContent; secrets: readonly string[] } {
  const type = getHookType(hook.type)
  const isFormerSigning = hook.formerSecret !== null && hook.formerSecretUntilMs > nowMs
  let config: ReturnType<typeof unsealHookConfig>
  let formerSecrets: string[]
  try {
    config = unsealHookConfig(type, hook.config, { open })
    formerSecrets = isFormerSigning ? [open(hook.formerSecret ?? '', formerSecretSealingPurpose)] : []
  } catch {
    return {
      sending: noDeliveryContent('A secret of the web hook cannot be opened: enter it again.'),
      secrets: []
    }
  }
  const sending = type.send(event, config, { at: Math.floor(nowMs / 1000), formerSecrets })
  return { sending, secrets: [...listConfigSecrets(type, config), ...formerSecrets] }
}
