import type { NamedChange, NamedValue } from '../model/fields/named-values.ts'
import { redactAddress, listAddressTokens } from './redact.ts'
import type { HookType } from './types/hook-type.ts'

/** Seals secrets, each for a purpose. */
export interface Sealer {
  readonly seal: (text: string, purpose: string) => string
  /** Throws if the text was sealed for another purpose or with another key, or was altered. */
  readonly open: (sealed: string, purpose: string) => string
}

/** The stored settings of a web hook: in the order they were sent, secrets sealed, defaults left out. */
export type HookConfig = readonly NamedValue[]

/** The sealing purpose of a setting. */
export const settingSealingPurpose = (key: string) => `webhooks.config.${key}`
/** The sealing purpose of a replaced signing secret. */
export const formerSecretSealingPurpose = 'webhooks.former_secret'

export const isGeneratedSetting = (type: HookType, key: string) => Object.hasOwn(type.made, key)
export const findSettingField = (type: HookType, key: string) =>
  Object.hasOwn(type.settings, key) ? type.settings[key] : undefined

/** Whether a setting is write-only. */
export const isSecretSetting = (type: HookType, key: string) => findSettingField(type, key)?.kind === 'secret'
export const isAddressSetting = (type: HookType, key: string) => type.urls.includes(key)

/** Whether a web hook has no config yet; generated settings do not count. */
export function isDraftConfig(type: HookType, config: readonly { readonly key: string }[]): boolean {
  return config.every(({ key }) => isGeneratedSetting(type, key))
}

/** The config in responses: empty for a draft, `""` for each secret, addresses redacted. */
export function redactHookConfig(type: HookType, config: HookConfig, showsPath: boolean): NamedValue[] {
  if (isDraftConfig(type, config)) return []
  return config.map(({ key, value }) => {
    if (isSecretSetting(type, key)) return { key, value: '' }
    return { key, value: isAddressSetting(type, key) ? redactAddress(String(value), showsPath) : value }
  })
}

/** Whether a sent value is the redacted form of the stored address, which then stays. */
export function isRedactedAddress(type: HookType, { key, value }: NamedChange, stored: HookConfig): boolean {
  if (!isAddressSetting(type, key) || isSecretSetting(type, key) || typeof value !== 'string') return false
  const address = stored.find(each => each.key === key)?.value
  return (
    address !== undefined &&
    value !== address &&
    [true, false].some(showsPath => redactAddress(String(address), showsPath) === value)
  )
}

/** The config in clear, for sending. Throws if a sealed text cannot be opened. */
export function unsealHookConfig(
  type: HookType,
  config: HookConfig,
  secrets: Pick<Sealer, 'open'>
): Readonly<Record<string, NamedValue['value']>> {
  const opened = config.map(({ key, value }) => {
    return [key, isSecretSetting(type, key) ? secrets.open(String(value), settingSealingPurpose(key)) : value]
  })
  return Object.fromEntries(opened)
}

/** The secrets of a config in clear, and the parts of its addresses that may be tokens. */
export function listConfigSecrets(type: HookType, config: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (typeof value !== 'string') return []
    if (isSecretSetting(type, key)) return [value]
    return isAddressSetting(type, key) ? listAddressTokens(value) : []
  })
}

/** Generates the missing settings of a new config; returns them in clear as well, to be shown once. */
export function addGeneratedSettings(
  type: HookType,
  config: HookConfig,
  secrets: Pick<Sealer, 'seal'>
): { config: NamedValue[]; generated: NamedValue[] } {
  const present = new Set(config.map(({ key }) => key))
  const generated = Object.entries(type.made)
    .filter(([key]) => !present.has(key))
    .map(([key, make]) => ({ key, value: make() }))
  const sealed = generated.map(({ key, value }) => ({
    key,
    value: secrets.seal(value, settingSealingPurpose(key))
  }))
  return { config: [...config, ...sealed], generated }
}
