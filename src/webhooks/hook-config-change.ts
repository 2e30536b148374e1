import * as v from 'valibot'

import type { NamedChange, NamedValue } from '../model/fields/named-values.ts'
import { toFieldErrors } from '../model/fields/validators.ts'
import { parseUrl } from '../platform/outbound/networks.ts'
import type { FieldError } from '../platform/runtime/errors.ts'
import type { Tx } from '../stores/db/sql.ts'
import {
  formerSecretSealingPurpose,
  type HookConfig,
  isAddressSetting,
  isDraftConfig,
  isGeneratedSetting,
  isRedactedAddress,
  isSecretSetting,
  unsealHookConfig,
  settingSealingPurpose,
  type Sealer,
  findSettingField
} from './hook-config.ts'
import type { HookType } from './types/hook-type.ts'

/**
 * Replaces the stored config by the one that was sent. An absent or empty secret stays, null clears it; a
 * redacted address stays. An empty config makes the web hook a draft; any other must be complete. Returns all
 * problems; the config must not be stored if there are any.
 */
export function mergeHookConfig(
  type: HookType,
  sent: readonly NamedChange[],
  stored: HookConfig,
  secrets: Sealer
): { config: NamedValue[]; problems: FieldError[] } {
  if (sent.length === 0)
    return { config: stored.filter(({ key }) => isGeneratedSetting(type, key)), problems: [] }
  const config: NamedValue[] = []
  const problems: FieldError[] = []
  const before = new Map(stored.map(({ key, value }) => [key, value]))
  for (const { key, value } of sent) {
    if (value === null) continue
    const field = findSettingField(type, key)
    const old = before.get(key)
    if (old !== undefined && isRedactedAddress(type, { key, value }, stored)) config.push({ key, value: old })
    else if (isAddressSetting(type, key) && String(value).includes('…'))
      problems.push(problemOf(key, 'invalid_url', 'is redacted: send the whole address.'))
    else if (isSecretSetting(type, key) && value === '') {
      if (old !== undefined) config.push({ key, value: old })
    } else if (!field) {
      if (type.isRetired) config.push({ key, value })
      else problems.push(problemOf(key, 'unknown_key', `is not a setting of the type ${type.name}.`))
    } else {
      const checked = v.safeParse(field.input, value, { abortPipeEarly: true })
      const isUnset = value === '' && field.fallback !== undefined
      if (checked.success) {
        const isHidden = isSecretSetting(type, key)
        config.push({ key, value: isHidden ? seal(key, checked.output, old, secrets) : checked.output })
      } else if (!isUnset) problems.push(...toFieldErrors(checked.issues, `config.${key}`))
    }
  }
  const sentKeys = new Set(sent.map(({ key }) => key))
  config.push(...stored.filter(({ key }) => !sentKeys.has(key) && isSecretSetting(type, key)))
  if (isDraftConfig(type, sent) && isDraftConfig(type, stored)) return { config, problems }
  return { config, problems: [...problems, ...missingSettings(type, config, problems)] }
}

/** Keeps the sealed text of an unchanged secret: sealing it again would look like a change. */
function seal(
  key: string,
  value: NamedValue['value'],
  old: NamedValue['value'] | undefined,
  secrets: Sealer
): string {
  const text = String(value)
  const purpose = settingSealingPurpose(key)
  if (typeof old === 'string' && orNull(() => secrets.open(old, purpose)) === text) return old
  return secrets.seal(text, purpose)
}

/** Null if `open` throws, as for a damaged sealed text, which can only be replaced. */
function orNull<Value>(open: () => Value): Value | null {
  try {
    return open()
  } catch {
    return null
  }
}

/** The required settings that a config lacks, as problems; none for a draft. */
export function findMissingHookSettings(type: HookType, config: HookConfig): FieldError[] {
  return isDraftConfig(type, config) ? [] : missingSettings(type, config, [])
}

function missingSettings(type: HookType, config: HookConfig, problems: readonly FieldError[]): FieldError[] {
  const named = new Set([...config.map(({ key }) => `config.${key}`), ...problems.map(({ field }) => field)])
  return Object.entries(type.settings)
    .filter(([key, { fallback }]) => fallback === undefined && !named.has(`config.${key}`))
    .map(([key]) => problemOf(key, 'required', 'is required.'))
}

function problemOf(key: string, code: string, sentence: string): FieldError {
  return { field: `config.${key}`, code, message: `config.${key} ${sentence}` }
}

/**
 * Stored secrets that would be sent to a changed address, as problems: who may change it must not learn them.
 * A secret that is sent again or cleared may go anywhere, and generated ones are never sent.
 */
export function findSecretsAtRisk(
  type: HookType,
  sent: readonly NamedChange[],
  stored: HookConfig,
  secrets: Pick<Sealer, 'open'>
): FieldError[] {
  // Without any setting it becomes a draft, which keeps no secrets.
  if (sent.length === 0) return []
  const moved = type.urls.find(key => isMoved(type, key, sent, stored, secrets))
  if (moved === undefined) return []
  const sentKeys = new Set(sent.filter(({ value }) => value !== '').map(({ key }) => key))
  return stored
    .filter(
      ({ key }) =>
        isSecretSetting(type, key) &&
        !sentKeys.has(key) &&
        !isAddressSetting(type, key) &&
        !isGeneratedSetting(type, key)
    )
    .map(({ key }) =>
      problemOf(key, 'required', `must be sent again, because ${moved} points to another server.`)
    )
}

/** Whether the new value of an address has another origin (scheme, host or port). */
function isMoved(
  type: HookType,
  key: string,
  sent: readonly NamedChange[],
  stored: HookConfig,
  secrets: Pick<Sealer, 'open'>
): boolean {
  const next = sent.find(each => each.key === key)?.value ?? ''
  if (next === '' && isSecretSetting(type, key)) return false
  const former = stored.filter(each => each.key === key)
  const fallback = type.settings[key]?.fallback ?? ''
  const opened = orNull(() => unsealHookConfig(type, former, secrets))
  const before = opened === null ? '' : (opened[key] ?? fallback)
  return originOf(next === '' ? fallback : next) !== originOf(before)
}

const originOf = (value: unknown) => parseUrl(String(value))?.origin ?? ''

/** How long a replaced signing secret also signs, so that receivers can be updated. */
const formerSecretMs = 86_400_000

/**
 * Keeps the signing secret that a change of a config replaces: it also signs for a day. If the secret is
 * cleared, no former one signs any more. Returns until when the former one signs, in Unix milliseconds; 0 if
 * none does or nothing has changed.
 */
export async function keepFormerSigningSecret(
  tx: Tx,
  secrets: Sealer,
  { id, type }: { readonly id: number; readonly type: HookType },
  change: { readonly before: HookConfig; readonly after: HookConfig; readonly nowMs: number }
): Promise<number> {
  const key = 'signing_secret'
  if (!Object.hasOwn(type.made, key)) return 0
  const [old, next] = [change.before, change.after].map(config => config.find(each => each.key === key))
  if (old?.value === next?.value) return 0
  const opened = old && next ? orNull(() => unsealHookConfig(type, [old], secrets)[key]) : null
  const former = opened === null ? null : secrets.seal(String(opened), formerSecretSealingPurpose)
  const untilMs = former === null ? 0 : change.nowMs + formerSecretMs
  await tx`update webhooks set former_secret = ${former}, former_secret_until_ms = ${untilMs} where id = ${id}`
  return untilMs
}
