import { formerSecretPurpose, type HookConfig, openedConfig, type Sealer, secretsIn } from '../config.ts'
import type { HookEvent } from '../event.ts'
import { getHookType } from '../types/hook-types.ts'
import { noContent, type DeliveryContent } from '../types/sending.ts'

/** The part of a web hook that decides what it sends. */
export interface HookToPrepare {
  readonly type: string
  readonly config: HookConfig
  /** A replaced signing secret, sealed, and until when it signs. */
  readonly formerSecret: string | null
  readonly formerSecretUntilMs: number
}

/** Returns what a web hook sends for an event, and the secrets to redact in the stored answer. */
export function renderDelivery(
  { open }: Pick<Sealer, 'open'>,
  hook: HookToPrepare,
  event: HookEvent,
  nowMs: number
): { sending: DeliveryContent; secrets: readonly string[] } {
  const type = getHookType(hook.type)
  const isFormerSigning = hook.formerSecret !== null && hook.formerSecretUntilMs > nowMs
  let config: ReturnType<typeof openedConfig>
  let formerSecrets: string[]
  try {
    config = openedConfig(type, hook.config, { open })
    formerSecrets = isFormerSigning ? [open(hook.formerSecret ?? '', formerSecretPurpose)] : []
  } catch {
    return { sending: noContent('A secret of the web hook cannot be opened: enter it again.'), secrets: [] }
  }
  const sending = type.send(event, config, { at: Math.floor(nowMs / 1000), formerSecrets })
  return { sending, secrets: [...secretsIn(type, config), ...formerSecrets] }
}
