import { type HookConfig, openedConfig, type Seals, secretsIn } from '../config.ts'
import type { HookEvent } from '../event.ts'
import { hookTypeOf } from '../types/hook-types.ts'
import { nothing, type Sending } from './sending.ts'

/** The part of a web hook that decides what it sends. */
export interface PreparedHook {
  readonly type: string
  readonly config: HookConfig
  /** A signing secret that was replaced, sealed, and until when it signs too. */
  readonly formerSecret: string | null
  readonly formerSecretUntilMs: number
}

/** The sealing purpose of a replaced signing secret. */
export const formerSecretPurpose = 'webhooks.former_secret'

/** Returns what a web hook sends for an event, and the secrets that must not appear in the stored answer. */
export function prepare(
  seals: Pick<Seals, 'open'>,
  hook: PreparedHook,
  event: HookEvent,
  nowMs: number
): { sending: Sending; secrets: readonly string[] } {
  const type = hookTypeOf(hook.type)
  const opened = open(seals, hook, nowMs)
  if (opened === null)
    return { sending: nothing('A secret of the hook cannot be opened: enter it again.'), secrets: [] }
  const { config, formerSecrets } = opened
  const sending = type.send(event, config, { at: Math.floor(nowMs / 1000), formerSecrets })
  return { sending, secrets: [...secretsIn(type, config), ...formerSecrets] }
}

/** Config and former signing secrets in clear; null if one was sealed with another key. */
function open(seals: Pick<Seals, 'open'>, hook: PreparedHook, nowMs: number) {
  const isSigning = hook.formerSecret !== null && hook.formerSecretUntilMs > nowMs
  try {
    const config = openedConfig(hookTypeOf(hook.type), hook.config, seals)
    const formerSecrets = isSigning ? [seals.open(hook.formerSecret ?? '', formerSecretPurpose)] : []
    return { config, formerSecrets }
  } catch {
    return null
  }
}
