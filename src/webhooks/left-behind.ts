import type { FieldError } from '../errors.ts'
import type { NamedChange } from '../fields/field.ts'
import { parsedUrl } from '../parsed-url.ts'
import { type Config, isSecret, openedConfig, type Seals } from './config.ts'
import type { HookType } from './hook-type.ts'

/**
 * Kept secrets that would follow a changed address: who may change it must not learn them so. A secret that is sent
 * again or cleared may go anywhere, and what is made at creation is never sent.
 */
export function secretsLeftBehind(
  type: HookType,
  sent: readonly NamedChange[],
  stored: Config,
  seals: Pick<Seals, 'open'>
): FieldError[] {
  // Without any setting it becomes a draft, which keeps none.
  if (sent.length === 0) return []
  const moved = type.urls.find(key => isMoved(type, key, sent, stored, seals))
  if (moved === undefined) return []
  const sentKeys = new Set(sent.filter(({ value }) => value !== '').map(({ key }) => key))
  const isKept = (key: string) =>
    isSecret(type, key) && !sentKeys.has(key) && !type.urls.includes(key) && !Object.hasOwn(type.made, key)
  return stored
    .filter(({ key }) => isKept(key))
    .map(({ key }) => ({
      field: `config.${key}`,
      code: 'required',
      message: `config.${key} must be sent again, because ${moved} leads elsewhere.`
    }))
}

/** Whether an address that is set so leads to another server: scheme, host or port differ. */
function isMoved(
  type: HookType,
  key: string,
  sent: readonly NamedChange[],
  stored: Config,
  seals: Pick<Seals, 'open'>
): boolean {
  const next = sent.find(each => each.key === key)?.value ?? ''
  if (next === '' && isSecret(type, key)) return false
  const former = stored.filter(each => each.key === key)
  const fallback = type.settings[key]?.fallback ?? ''
  return originOf(next === '' ? fallback : next) !== originOf(opened(type, former, seals) ?? fallback)
}

/** The first value in clear; one that cannot be opened leads nowhere. */
function opened(type: HookType, config: Config, seals: Pick<Seals, 'open'>): unknown {
  try {
    return Object.values(openedConfig(type, config, seals))[0]
  } catch {
    return ''
  }
}

const originOf = (value: unknown) => parsedUrl(String(value))?.origin ?? ''
