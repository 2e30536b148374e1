import * as v from 'valibot'

import type { NamedChange, NamedValue } from '../fields/field.ts'
import { problemsOf } from '../fields/problems.ts'
import type { FieldError } from '../runtime/errors.ts'
import { redactedAddress, tokensIn } from './redact.ts'
import type { HookType } from './types/hook-type.ts'

/** Seals secrets inside configs, each under its setting. */
export interface Seals {
  readonly seal: (text: string, purpose: string) => string
  readonly open: (sealed: string, purpose: string) => string
}

/**
 * The settings of a web hook as they are stored: in the order they were sent, secrets sealed, defaults left
 * out.
 */
export type HookConfig = readonly NamedValue[]

const purposeOf = (key: string) => `webhooks.config.${key}`
const isMade = (type: HookType, key: string) => Object.hasOwn(type.made, key)
const settingOf = (type: HookType, key: string) =>
  Object.hasOwn(type.settings, key) ? type.settings[key] : undefined

/** Whether a setting is write-only. */
export const isSecret = (type: HookType, key: string) => settingOf(type, key)?.kind === 'secret'

/** Whether a web hook has no config yet; generated settings do not count. */
export function isDraft(type: HookType, config: readonly { readonly key: string }[]): boolean {
  return config.every(({ key }) => isMade(type, key))
}

/** The config in responses: empty for a draft, `""` for each secret, addresses redacted. */
export function shownConfig(type: HookType, config: HookConfig, showsPath: boolean): NamedValue[] {
  if (isDraft(type, config)) return []
  return config.map(({ key, value }) => {
    if (isSecret(type, key)) return { key, value: '' }
    return { key, value: isAddress(type, key) ? redactedAddress(String(value), showsPath) : value }
  })
}

const isAddress = (type: HookType, key: string) => type.urls.includes(key)

/**
 * Whether a value that is sent for a setting is what `shownConfig` shows of the stored address, which then
 * stays.
 */
export function isRedacted(type: HookType, { key, value }: NamedChange, stored: HookConfig): boolean {
  if (!isAddress(type, key) || isSecret(type, key) || typeof value !== 'string') return false
  const address = stored.find(each => each.key === key)?.value
  return (
    address !== undefined &&
    value !== address &&
    [true, false].some(showsPath => redactedAddress(String(address), showsPath) === value)
  )
}

/** The config in clear, for sending. Throws where a sealed text cannot be opened. */
export function openedConfig(
  type: HookType,
  config: HookConfig,
  seals: Pick<Seals, 'open'>
): Readonly<Record<string, NamedValue['value']>> {
  const opened = config.map(({ key, value }) => {
    return [key, isSecret(type, key) ? seals.open(String(value), purposeOf(key)) : value]
  })
  return Object.fromEntries(opened)
}

/** The secrets of a config in clear, and what may be a token in its addresses. */
export function secretsIn(type: HookType, config: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (typeof value !== 'string') return []
    if (isSecret(type, key)) return [value]
    return isAddress(type, key) ? tokensIn(value) : []
  })
}

/**
 * Applies a new config. It replaces the stored one, except for secrets: an absent or empty secret stays, null
 * clears it. A redacted address that is sent back stays as well. An empty config makes the web hook a draft;
 * any other must be complete. Returns every problem; if there are any, the config must not be stored.
 */
export function settleConfig(
  type: HookType,
  sent: readonly NamedChange[],
  stored: HookConfig,
  seals: Seals
): { config: NamedValue[]; problems: FieldError[] } {
  if (sent.length === 0) return { config: stored.filter(({ key }) => isMade(type, key)), problems: [] }
  const config: NamedValue[] = []
  const problems: FieldError[] = []
  const before = new Map(stored.map(({ key, value }) => [key, value]))
  for (const { key, value } of sent) {
    const field = settingOf(type, key)
    const isHidden = isSecret(type, key)
    const old = before.get(key)
    if (value === null) continue
    if (old !== undefined && isRedacted(type, { key, value }, stored)) {
      config.push({ key, value: old })
      continue
    }
    if (isAddress(type, key) && String(value).includes('…')) {
      problems.push(problemOf(key, 'invalid_url', 'is redacted: send the whole address.'))
      continue
    }
    if (isHidden && value === '') {
      if (old !== undefined) config.push({ key, value: old })
      continue
    }
    if (!field) {
      if (type.isRetired) config.push({ key, value })
      else problems.push(problemOf(key, 'unknown_key', `is no setting of the type ${type.name}.`))
      continue
    }
    const checked = v.safeParse(field.input, value, { abortPipeEarly: true })
    const isUnset = value === '' && field.fallback !== undefined
    if (checked.success)
      config.push({ key, value: isHidden ? sealed(key, checked.output, old, seals) : checked.output })
    else if (!isUnset) problems.push(...problemsOf(checked.issues, `config.${key}`))
  }
  const sentKeys = new Set(sent.map(({ key }) => key))
  const isLeftAlone = (key: string) => !sentKeys.has(key) && isSecret(type, key)
  config.push(...stored.filter(({ key }) => isLeftAlone(key)))
  if (isDraft(type, sent) && isDraft(type, stored)) return { config, problems }
  return { config, problems: [...problems, ...missing(type, config, problems)] }
}

/** An unchanged secret keeps its sealed text; sealing it again would look like a change. */
function sealed(
  key: string,
  value: NamedValue['value'],
  old: NamedValue['value'] | undefined,
  seals: Seals
): string {
  const text = String(value)
  if (typeof old === 'string' && openedOrNull(old, purposeOf(key), seals) === text) return old
  return seals.seal(text, purposeOf(key))
}

/** Null for a damaged sealed text, which can only be replaced. */
function openedOrNull(text: string, purpose: string, seals: Seals): string | null {
  try {
    return seals.open(text, purpose)
  } catch {
    return null
  }
}

/** Returns what a config lacks that its type requires, as problems; none for a draft. */
export function incompleteConfig(type: HookType, config: HookConfig): FieldError[] {
  return isDraft(type, config) ? [] : missing(type, config, [])
}

function missing(type: HookType, config: HookConfig, problems: readonly FieldError[]): FieldError[] {
  const named = new Set([...config.map(({ key }) => `config.${key}`), ...problems.map(({ field }) => field)])
  return Object.entries(type.settings)
    .filter(([key, { fallback }]) => fallback === undefined && !named.has(`config.${key}`))
    .map(([key]) => problemOf(key, 'required', 'is required.'))
}

function problemOf(key: string, code: string, sentence: string): FieldError {
  return { field: `config.${key}`, code, message: `config.${key} ${sentence}` }
}

/**
 * Adds generated settings to the config of a new web hook; returns them in clear as well, to be shown once.
 */
export function withMade(
  type: HookType,
  config: HookConfig,
  seals: Seals
): { config: NamedValue[]; made: NamedValue[] } {
  const isThere = new Set(config.map(({ key }) => key))
  const made = Object.entries(type.made)
    .filter(([key]) => !isThere.has(key))
    .map(([key, make]) => ({ key, value: make() }))
  const kept = made.map(({ key, value }) => ({ key, value: seals.seal(value, purposeOf(key)) }))
  return { config: [...config, ...kept], made }
}
