import type { Tx } from '../db/sql.ts'
import { type HookConfig, openedConfig, type Seals } from './config.ts'
import { formerSecretPurpose } from './deliveries/prepare.ts'
import type { HookType } from './types/hook-type.ts'

/** A replaced signing secret also signs for this long, so that receivers can be updated. */
const formerSecretMs = 86_400_000

const key = 'signing_secret'

/**
 * Keeps the signing secret that a change of a hook's config replaces, so that it signs too for a day. One
 * that is cleared, and any from before it, signs no more. Gives until when the former one signs, in Unix
 * milliseconds; 0: no longer, or nothing has changed.
 */
export async function keepFormerSecret(
  tx: Tx,
  seals: Seals,
  hook: { readonly id: number; readonly type: HookType },
  {
    before,
    after,
    nowMs
  }: { readonly before: HookConfig; readonly after: HookConfig; readonly nowMs: number }
): Promise<number> {
  if (!Object.hasOwn(hook.type.made, key)) return 0
  const [old, next] = [secretIn(before), secretIn(after)]
  if (old?.value === next?.value) return 0
  const former = old && next ? resealed(hook.type, old, seals) : null
  const untilMs = former === null ? 0 : nowMs + formerSecretMs
  await tx`
    update webhooks set former_secret = ${former}, former_secret_until_ms = ${untilMs} where id = ${hook.id}`
  return untilMs
}

const secretIn = (config: HookConfig) => config.find(each => each.key === key)

/** The same secret, sealed for its new place; null where it cannot be opened any more. */
function resealed(type: HookType, setting: HookConfig[number], seals: Seals): string | null {
  try {
    return seals.seal(String(openedConfig(type, [setting], seals)[key]), formerSecretPurpose)
  } catch {
    return null
  }
}
